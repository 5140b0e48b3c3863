#include "userspace/cli/terminal.h"

#include <algorithm>
#include <cstdint>

#include <sys/ioctl.h>
#include <unistd.h>

namespace sojourn::cli {
namespace {

constexpr std::size_t kNarrowest = 40;  // below that the terminal may break lines where it likes
constexpr std::size_t kWidest = 100;
constexpr std::size_t kUsual = 80;

}  // namespace

std::optional<std::size_t> terminal_width() {
  winsize size{};
  if (isatty(STDOUT_FILENO) == 0 || ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) != 0 ||
      size.ws_col == 0)
    return std::nullopt;
  return std::max<std::size_t>(size.ws_col, kNarrowest);
}

std::size_t line_width() {
  return terminal_width().value_or(SIZE_MAX);
}

std::size_t picture_width() {
  return terminal_width().value_or(kWidest);
}

std::size_t help_width() {
  return std::min(terminal_width().value_or(kUsual), kWidest);
}

}  // namespace sojourn::cli
