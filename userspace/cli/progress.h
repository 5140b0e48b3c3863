// A line on stderr that says how far a long run is. Only where stderr is a terminal, only once the
// run takes long enough to wonder, and gone before anything else is printed.
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
  // What updates it, of a pass of so many that each read everything.
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
