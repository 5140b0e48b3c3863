// The process to be traced: who it is, which files it executes, and the probe sites in them. All that
// comes from the process (maps, ELF files, notes) is hostile until checked.
// A Target pins its process by pidfd, so a reused pid is never mistaken for it. One thread owns it.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <string>
#include <vector>

#include "analysis/base/result.h"
#include "analysis/model/capture.h"
#include "analysis/model/schema.h"
#include "bpf/events.h"

namespace sojourn::target {

// A file that the process has mapped executable.
struct MappedFile {
  std::string name;       // as maps names it, in the target's mount namespace
  std::string path;       // where this process can open it: /proc/PID/root/... or /proc/PID/map_files/...
  std::uint64_t inode = 0;
  std::uint64_t device = 0;
  std::uint64_t load_bias = 0;  // run-time address minus ELF virtual address
};

// One place in a file where a point is hit.
struct Site {
  std::size_t file = 0;               // index into Points::files
  std::uint64_t offset = 0;           // in the file
  std::uint64_t semaphore_offset = 0; // in the file, 0: none
  model::PointId point = 0;
  std::vector<sj_arg> args;
  std::string probe;                  // provider:name of its USDT note
};

// Something in the target that looks like a point but cannot be used; told, never silent.
struct Unusable {
  std::string where;  // file and probe name
  std::string why;
};

struct Points {
  model::Schema schema;
  std::vector<MappedFile> files;  // only those that hold sites
  std::vector<Site> sites;
  std::vector<Unusable> unusable;
};

}  // namespace sojourn::target
