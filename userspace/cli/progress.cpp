#include "userspace/cli/progress.h"

#include <algorithm>
#include <cstdio>

#include <fmt/core.h>
#include <unistd.h>

namespace sojourn::cli {
namespace {

constexpr auto kTimeout = std::chrono::milliseconds(500);
constexpr auto kInterval = std::chrono::milliseconds(100);

}  // namespace

ProgressLine::ProgressLine(const char* things)
    : things_(things), terminal_(isatty(STDERR_FILENO) == 1), due_(Clock::now() + kTimeout) {}

void ProgressLine::update(std::uint64_t done, std::uint64_t of) {
  if (!terminal_ || of == 0) return;
  const auto now = Clock::now();
  if (now < due_) return;
  due_ = now + kInterval;
  shown_ = true;
  const auto share = std::min(1.0, static_cast<double>(done) / static_cast<double>(of));
  fmt::print(stderr, "\r{:3.0f} %  {} of {} {}", share * 100, done, of, things_);
}

void ProgressLine::clear() {
  if (shown_) fmt::print(stderr, "\r\033[K");
  shown_ = false;
}

std::function<void(std::uint64_t done, std::uint64_t of)> ProgressLine::progress(
    std::uint64_t pass, std::uint64_t passes) {
  return [this, pass, passes](std::uint64_t done, std::uint64_t of) {
    update(pass * of + done, passes * of);
  };
}

}  // namespace sojourn::cli
