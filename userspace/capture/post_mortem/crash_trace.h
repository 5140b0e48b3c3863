// Makes a trace of the last events of a process that has crashed, from its orphaned rings. The
// files of its code describe the points; they are found by the paths and the build ids in the
// rings. Nothing is attached, nothing is changed. No state.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include <sys/types.h>

#include "analysis/base/result.h"
#include "userspace/capture/post_mortem/orphaned_trace.h"
#include "userspace/tracee/program_points.h"

namespace sojourn::capture {

struct PostMortemOptions {
  std::string path;                      // a ring file, a directory of them, or a core file
  pid_t pid = 0;                         // the process, if there are rings of several
  std::vector<std::string> executables;  // the present places of the code; empty: the old ones
  std::string output;
};

struct PostMortem {
  OrphanedTrace trace;
  std::uint64_t missing_bytes = 0;  // of the core
  bool is_this_boot = false;
  std::vector<std::string> unchecked;  // files without a build id: they may be of another build
  std::vector<tracee::Unusable> unusable;
};

Result<PostMortem> recover(const PostMortemOptions& options);

}  // namespace sojourn::capture
