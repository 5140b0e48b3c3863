// The points of a process or program, and where they are: plain data, made by points.h and used by
// the capture and the command line. The headers that it is made by:
//
//   process.h   pins the process and reads who it is
//   maps.h      its mappings                      mapped_files.h  where to open their files
//   elf_file.h  the files, read with suspicion    notes.h         the probes that they describe
//   operands.h  where a probe's arguments are     points.h        all of it together
//
// All data from the process (maps, ELF files, notes) is hostile until checked.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "analysis/base/result.h"
#include "analysis/model/schema.h"
#include "bpf/events.h"

namespace sojourn::tracee {

// A file that the process has mapped executable.
struct MappedFile {
  std::string name;  // as maps names it, in the target's mount namespace, without " (deleted)"
  std::string path;  // for this process: /proc/PID/root/... or /proc/PID/map_files/...
  std::uint64_t inode = 0;
  std::uint64_t device = 0;
  std::uint64_t load_bias = 0;  // run-time address minus ELF virtual address
  bool deleted = false;         // or replaced: it has no path any more
};

// One place in a file at which a point is hit.
struct Site {
  std::size_t file = 0;                // index into Points::files
  std::uint64_t offset = 0;            // in the file
  std::uint64_t semaphore_offset = 0;  // in the file, 0: none
  model::PointId point = 0;
  std::vector<sj_arg> args;
  std::string probe;  // provider:name of its USDT note
  std::vector<sj_chain> chains =
      {};  // for arguments of kind SJ_ARG_CHAIN, which refer to them by index
  std::vector<sj_test> tests = {};  // tests that a hit must pass, else it is left out
  bool is_stepped = false;  // the kernel executes its instruction out of line, in a single step
  bool is_return = false;   // hit when the function that begins here returns, by a uretprobe
  // Sites of one group are switched together, and share a link if links may have several sites.
  std::uint32_t group = 0;
  bool is_optional = false;  // its map says so: shed first if tracing takes too much
};

// The site of a point for the ring engine. Addresses are ELF addresses.
struct RingSite {
  std::size_t file = 0;
  std::uint64_t id = 0;    // the low half of its run-time address is the records' id
  std::uint64_t flag = 0;  // of its uint16_t
  model::PointId point = 0;
  bool is_wanted = true;  // false: `point` is an index into Points::left_out
};

// Something in the target that looks like a point but cannot be used. It is always reported.
struct Unusable {
  std::string where;  // file and probe name
  std::string why;
};

// A USDT probe that does not describe itself as a point: another program's, or a library's own.
struct ForeignProbe {
  std::string file;
  std::string probe;      // provider:name
  std::string arguments;  // the text in its note
};

struct Points {
  model::Schema schema;
  std::vector<MappedFile> files;  // only those that hold sites
  std::vector<Site> sites;
  std::vector<RingSite> ring_sites;
  // Points that were not asked for, or are not valid; a ring may hold records of them.
  std::vector<model::Point> left_out;
  std::vector<Unusable> unusable;
  std::vector<std::string> unplaced;  // points of maps on a unit's path that have no site: "D a--b"
  std::vector<ForeignProbe> foreign;
};

}  // namespace sojourn::tracee
