// Makes an Error of a failed system call: the operation, its object, and errno's text and kind.
#pragma once

#include <cerrno>
#include <system_error>
#include <utility>

#include "analysis/base/result.h"

namespace sojourn {

// Used as `return fail_errno("open {}", path)`.
template <typename... Args>
std::unexpected<Error> fail_errno(fmt::format_string<Args...> format, Args&&... args) {
  const int code = errno;
  const bool is_refused = code == EACCES || code == EPERM;
  return std::unexpected(
      Error(fmt::format("{}: {}", fmt::format(format, std::forward<Args>(args)...),
                        std::generic_category().message(code)),
            is_refused ? ErrorKind::kNotPermitted : ErrorKind::kOther));
}

}  // namespace sojourn
