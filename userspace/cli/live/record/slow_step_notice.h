// Prints the step before a capture's begin that takes longer than two seconds, and its duration. A
// child process does the printing, because `record` must have one thread until it has given up its
// rights. The child gives up its own at once.
#pragma once

#include <chrono>
#include <string>

#include <sys/types.h>

namespace sojourn::cli {

class SlowStepNotice {
 public:
  static constexpr std::chrono::milliseconds kPatience{2000};

  // `step`: "looking for its points".
  SlowStepNotice(std::string step, bool is_quiet, std::chrono::milliseconds patience = kPatience);
  ~SlowStepNotice();
  SlowStepNotice(const SlowStepNotice&) = delete;
  SlowStepNotice& operator=(const SlowStepNotice&) = delete;

 private:
  std::string step_;
  std::chrono::milliseconds patience_;
  std::chrono::steady_clock::time_point begin_;
  pid_t child_ = -1;  // -1: nothing is printed
};

}  // namespace sojourn::cli
