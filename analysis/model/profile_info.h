// What a trace says about its perf events: which counters it was to have and how they were taken,
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
  std::uint64_t period = 1;  // a sample is taken every so many; 1: at each
  bool user_only = false;    // what the kernel did on the target's behalf is not in it
  std::string missing;       // why it is not in the trace; empty: it is

  bool operator==(const Counter&) const = default;
};

// A function at one place of the code. Without names only module and address are known.
struct FrameFunction {
  std::string function;  // as people write it
  std::string file;      // of the source, empty: not known
  std::uint32_t line = 0;

  bool operator==(const FrameFunction&) const = default;
};

// One place in code that stacks go through. `calls` are the functions whose code is there: the one
// that was inlined into all others first, the one that holds them last; empty where no name is
// known.
struct Frame {
  std::uint32_t id = 0;
  std::string module;         // the file as the target's maps name it, "[vdso]", "[kernel]"
  std::string build_id;       // hex, empty where the file has none
  std::uint64_t address = 0;  // as the file counts addresses; of the kernel as it runs
  bool is_kernel = false;
  std::vector<FrameFunction> calls;

  bool operator==(const Frame&) const = default;
};

struct Stack {
  std::uint32_t id = 0;               // the field `stack` of samples; 0 is no stack
  std::vector<std::uint32_t> frames;  // where it was first, its outermost caller last

  bool operator==(const Stack&) const = default;
};

// A trace has several, each with what was learnt since the one before; a later word on a counter or
// a frame counts.
struct Profile {
  std::vector<Counter> counters;
  std::vector<Frame> frames;
  std::vector<Stack> stacks;

  bool empty() const { return counters.empty() && frames.empty() && stacks.empty(); }
};

constexpr std::string_view kProfile = "profile";  // the name of the counter behind a profile

// The points that samples are events of.
Point counter_point(std::string_view counter);  // field `count`: how many the sample stands for
Point profile_point();                          // fields `stack`, `ns`: CPU time that it stands for

// The counter whose samples are events of the point; empty where they are not.
std::string_view counter_of(const Point& point);

}  // namespace sojourn::model
