#include "analysis/live/depth_window.h"

#include <algorithm>

namespace sojourn::live {

DepthWindow::DepthWindow(std::size_t window_s)
    : max_of_second_(std::max<std::size_t>(window_s, 1)) {}

// A second begins with the depth at the end of the one before.
void DepthWindow::advance(std::uint64_t second) {
  if (second <= second_) return;
  const std::uint64_t from =
      second - second_ > max_of_second_.size() ? second - max_of_second_.size() : second_;
  for (std::uint64_t at = from + 1; at <= second; ++at)
    max_of_second_[at % max_of_second_.size()] = now_;
  second_ = second;
}

void DepthWindow::enter(std::uint64_t second) {
  advance(second);
  ++entered_;
  max_ = std::max(max_, ++now_);
  auto& most = max_of_second_[second_ % max_of_second_.size()];
  most = std::max(most, now_);
}

void DepthWindow::leave(std::uint64_t second, bool seen) {
  advance(second);
  if (now_ > 0) --now_;
  if (!seen) ++given_up_;
}

std::uint64_t DepthWindow::window_max() const {
  return std::ranges::max(max_of_second_);
}

}  // namespace sojourn::live
