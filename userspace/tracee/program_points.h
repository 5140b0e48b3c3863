// What the tracer knows about a process that it may probe: plain data, made by points.h and used by
// the capture and the command line. How it comes about, one header a subject:
//
//   process.h      pins the process and reads who it is        host.h       the machine under it
//   maps.h         what it has mapped                          mapped_files.h  where to open that
//   elf_file.h     the files, read with suspicion              notes.h      the probes they
//   describe operands.h     where a probe's arguments are               points.h     all of it
//   together
//
// All that comes from the process (maps, ELF files, notes) is hostile until checked.
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
  std::string
      path;  // where this process can open it: /proc/PID/root/... or /proc/PID/map_files/...
  std::uint64_t inode = 0;
  std::uint64_t device = 0;
  std::uint64_t load_bias = 0;  // run-time address minus ELF virtual address
  bool deleted = false;         // or replaced: no name leads to it any more
};

// One place in a file where a point is hit.
struct Site {
  std::size_t file = 0;                // index into Points::files
  std::uint64_t offset = 0;            // in the file
  std::uint64_t semaphore_offset = 0;  // in the file, 0: none
  model::PointId point = 0;
  std::vector<sj_arg> args;
  std::string probe;                  // provider:name of its USDT note
  std::vector<sj_chain> chains = {};  // of the arguments that are such, which number them from 0
  std::vector<sj_test> tests = {};    // that a hit must pass, or it is left out
  bool is_stepped = false;            // the kernel executes its instruction apart, in a single step
  bool is_return = false;  // hit when the function that begins here returns, by a uretprobe
};

// The same point as the ring engine has it. Addresses are as the file counts them.
struct RingSite {
  std::size_t file = 0;
  std::uint64_t id = 0;    // its low half, once the program runs, is what records carry
  std::uint64_t flag = 0;  // of its uint16_t
  model::PointId point = 0;
  bool is_wanted = true;  // else `point` is an index into Points::left_out
};

// Something in the target that looks like a point but cannot be used; told, never silent.
struct Unusable {
  std::string where;  // file and probe name
  std::string why;
};

// A USDT probe that does not describe itself as a point: another program's, or a library's own.
struct ForeignProbe {
  std::string file;
  std::string probe;      // provider:name
  std::string arguments;  // as its note gives them
};

struct Points {
  model::Schema schema;
  std::vector<MappedFile> files;  // only those that hold sites
  std::vector<Site> sites;
  std::vector<RingSite> ring_sites;
  // Points that were not asked for, or that make no sense; a ring may hold records of them.
  std::vector<model::Point> left_out;
  std::vector<Unusable> unusable;
  std::vector<std::string> unplaced;  // points of maps on a unit's path that have no site: "D a--b"
  std::vector<ForeignProbe> foreign;
};

}  // namespace sojourn::tracee
