// A trace's record of its perf events: the counters that were asked for and how they were taken,
// and the stacks behind the numbers in the samples of a profile. The samples themselves are events
// (docs/capture.md): Q counter.NAME and Q profile.sample. Plain data.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "analysis/model/schema.h"

namespace sojourn::model {

// One of --counters, or "profile".
struct Counter {
  std::string name;          // "page-faults"
  std::uint64_t period = 1;  // events for each sample; 1: each is a sample
  bool user_only = false;    // without the kernel's work for the target
  std::string missing;       // why it is not in the trace; empty: it is

  bool operator==(const Counter&) const = default;
};

// A function at one place of the code. Without names only module and address are known.
struct FrameFunction {
  std::string function;  // demangled
  std::string file;      // of the source, empty: not known
  std::uint32_t line = 0;

  bool operator==(const FrameFunction&) const = default;
};

// An address in code that stacks contain. `calls` are the functions at the address: the one that
// was inlined into all others first, the containing one last; empty: no name is known.
struct Frame {
  std::uint32_t id = 0;
  std::string module;         // the file's name in the target's maps, "[vdso]", "[kernel]"
  std::string build_id;       // hex, empty where the file has none
  std::uint64_t address = 0;  // the ELF address; for the kernel the run-time address
  bool is_kernel = false;
  std::vector<FrameFunction> calls;

  bool operator==(const Frame&) const = default;
};

struct Stack {
  std::uint32_t id = 0;               // the field `stack` of samples; 0 is no stack
  std::vector<std::uint32_t> frames;  // the innermost frame first, the outermost caller last

  bool operator==(const Stack&) const = default;
};

// A trace has several of these, each with the news since the one before; a later entry for a
// counter or a frame replaces an earlier one.
struct Profile {
  std::vector<Counter> counters;
  std::vector<Frame> frames;
  std::vector<Stack> stacks;

  bool empty() const { return counters.empty() && frames.empty() && stacks.empty(); }
};

constexpr std::string_view kProfile = "profile";  // the name of the counter behind a profile

// The points that samples are events of.
Point counter_point(std::string_view counter);  // field `count`: the number of events of the sample
Point profile_point();                          // fields `stack`, `ns`: the CPU time of the sample

// Returns the counter whose samples are this point's events, or an empty text.
std::string_view counter_of(const Point& point);

}  // namespace sojourn::model
