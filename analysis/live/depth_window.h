// The number of units in a place: now, and the maximum in the last seconds and since the start. One
// thread owns a DepthWindow.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace sojourn::live {

class DepthWindow {
 public:
  explicit DepthWindow(std::size_t window_s);

  // Seconds count from the start.
  void enter(std::uint64_t second);
  void leave(std::uint64_t second, bool seen);
  void advance(std::uint64_t second);

  std::uint64_t now() const { return now_; }
  std::uint64_t window_max() const;
  std::uint64_t max() const { return max_; }
  std::uint64_t entered() const { return entered_; }
  std::uint64_t given_up() const { return given_up_; }  // were never seen to leave

 private:
  std::vector<std::uint64_t> max_of_second_;
  std::uint64_t second_ = 0;
  std::uint64_t now_ = 0;
  std::uint64_t max_ = 0;
  std::uint64_t entered_ = 0;
  std::uint64_t given_up_ = 0;
};

}  // namespace sojourn::live
