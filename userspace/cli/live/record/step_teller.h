// Says what a capture is still at before it begins, where that takes longer than two seconds, and
// how long it took. A step that is told is waited for in a child process, since `record` must have
// one thread until it has given up its rights; the child gives up its own at once.
#pragma once

#include <chrono>
#include <string>

#include <sys/types.h>

namespace sojourn::cli {

class StepTeller {
 public:
  static constexpr std::chrono::milliseconds kPatience{2000};

  // `step`: "looking for its points".
  StepTeller(std::string step, bool is_quiet, std::chrono::milliseconds patience = kPatience);
  ~StepTeller();
  StepTeller(const StepTeller&) = delete;
  StepTeller& operator=(const StepTeller&) = delete;

 private:
  std::string step_;
  std::chrono::milliseconds patience_;
  std::chrono::steady_clock::time_point begin_;
  pid_t child_ = -1;  // -1: nothing is told
};

}  // namespace sojourn::cli
