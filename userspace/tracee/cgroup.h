// A control group as a set of processes: all that are in it or below it at the moment of the call.
// For version 2 and version 1 hierarchies, by their lists of processes. Owns only a path; any
// thread.
#pragma once

#include <string>
#include <vector>

#include <sys/types.h>

#include "analysis/base/result.h"

namespace sojourn::tracee {

class Cgroup {
 public:
  // A directory of a cgroup file system, or its path below the mount point, e.g.
  // "system.slice/gnb.service".
  static Result<Cgroup> open(const std::string& path);

  const std::string& path() const { return path_; }

  // The pids in ascending order. Fails if the group is gone.
  Result<std::vector<pid_t>> processes() const;

 private:
  explicit Cgroup(std::string path) : path_(std::move(path)) {}

  std::string path_;
};

}  // namespace sojourn::tracee
