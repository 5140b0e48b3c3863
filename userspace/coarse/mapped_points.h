// Finds the points that maps define in an unprepared program: its functions are found by name, a
// place for a probe is chosen in each, and expressions are compiled for the BPF programs. A point
// that the program does not have is listed as unusable; the others are found all the same.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "analysis/base/result.h"
#include "userspace/coarse/code/kernel_nops.h"
#include "userspace/coarse/map/map_file.h"
#include "userspace/tracee/process.h"
#include "userspace/tracee/program_points.h"

namespace sojourn::coarse {

// The event of a function at which its probe is hit.
enum class Probe : std::uint8_t {
  kEntry,   // it is entered
  kExit,    // it is left: the probe is where it returns, or jumps to another
  kReturn,  // it returns, by a uretprobe on its beginning
  kCall,    // it is called: the probe is on the instruction that does
};

// The search result for a site of a map, for people.
struct MappedSite {
  std::size_t site = 0;  // index into Points::sites
  std::string function;
  std::int64_t offset = 0;  // from its entry
  Probe probe = Probe::kEntry;
  std::string instruction;
  std::vector<std::string>
      folded;  // functions whose hits are counted as well, as they share the code

  std::string place() const;  // "+0x4"
};

struct Options {
  bool takes_slow_sites = false;     // sites that the kernel executes in a single step
  bool takes_return_probes = false;  // uretprobes, in processes where they are safe
  KernelNops nops = {};              // this kernel's treatment of nops
};

struct FoundPoints {
  tracee::Points points;  // including those that are built into the program
  std::vector<MappedSite> mapped;
  std::vector<std::string> remarks;  // remarks for people, for any result
};

// The points of a running process.
Result<FoundPoints> find_points(const tracee::Process& process, std::span<const Map> maps,
                                const Options& options);
// The points of programs and libraries that need not run.
Result<FoundPoints> find_points_in_files(std::span<const std::string> paths,
                                         std::span<const Map> maps, const Options& options);

// Functions that look like the data path by their names, at most `most` of each file, with the
// values of these expressions as fields, and the stack pointer (model::kStackPointerField).
Result<FoundPoints> find_guesses(const tracee::Process& process, std::size_t most,
                                 std::span<const std::string_view> watched);

}  // namespace sojourn::coarse
