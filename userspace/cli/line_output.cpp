#include "userspace/cli/line_output.h"

#include <cerrno>
#include <string_view>

#include <unistd.h>

#include "userspace/base/fail_errno.h"

namespace sojourn::cli {

Result<void> LineOutput::flush_if_full() {
  constexpr std::size_t kFull = 64 * 1024;
  if (buffer_.size() < kFull) return {};
  return flush();
}

Result<void> LineOutput::flush() {
  std::string_view rest(buffer_.data(), buffer_.size());
  while (is_taken_ && !rest.empty()) {
    const ssize_t written = ::write(STDOUT_FILENO, rest.data(), rest.size());
    if (written >= 0)
      rest.remove_prefix(static_cast<std::size_t>(written));
    else if (errno == EPIPE)
      is_taken_ = false;
    else if (errno != EINTR)
      return fail_errno("write standard output");
  }
  buffer_.clear();
  return {};
}

}  // namespace sojourn::cli
