// `record --post-mortem`: its options and its messages.
#pragma once

#include <string>
#include <vector>

#include <sys/types.h>

#include "analysis/base/result.h"
#include "userspace/cli/arguments.h"

namespace sojourn::cli {

class PostMortemOptions {
 public:
  void define(Arguments& arguments);
  bool is_asked() const { return !path_.empty(); }

  // Refuses options that make no sense without a process to attach to.
  static void check(const Arguments& arguments);

  Result<void> run(const std::vector<pid_t>& pids, const std::string& output, bool is_quiet) const;

 private:
  std::string path_;
  std::vector<std::string> executables_;
};

}  // namespace sojourn::cli
