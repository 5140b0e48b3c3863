// A line on stderr with the progress of a long run. Only if stderr is a terminal, and only once the
// run has taken a while; it is removed before anything else is printed.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>

namespace sojourn::cli {

class ProgressLine {
 public:
  explicit ProgressLine(const char* things = "events");
  ProgressLine(const ProgressLine&) = delete;
  ProgressLine& operator=(const ProgressLine&) = delete;
  ~ProgressLine() { clear(); }

  void update(std::uint64_t done, std::uint64_t of);
  void clear();
  // The function that updates it, for one of several passes that each read everything.
  std::function<void(std::uint64_t done, std::uint64_t of)> progress(std::uint64_t pass = 0,
                                                                     std::uint64_t passes = 1);

 private:
  using Clock = std::chrono::steady_clock;

  const char* things_;
  bool terminal_;
  bool shown_ = false;
  Clock::time_point due_;
};

}  // namespace sojourn::cli
