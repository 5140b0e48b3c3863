// How everything in sojourn fails: a function that can fail returns Result<T>; its Error says what
// failed, on what, and why, e.g. "open /proc/4242/maps: No such process". It is made at the failing
// call, callers may put context in front on the way up, and main prints it once.
#pragma once

#include <expected>
#include <string>
#include <string_view>
#include <utility>

#include <fmt/format.h>

namespace sojourn {

class Error {
 public:
  explicit Error(std::string text) : text_(std::move(text)) {}

  const std::string& text() const { return text_; }

  Error within(std::string_view context) && {
    text_ = fmt::format("{}: {}", context, text_);
    return std::move(*this);
  }

 private:
  std::string text_;
};

template <typename T>
using Result = std::expected<T, Error>;

template <typename... Args>
std::unexpected<Error> fail(fmt::format_string<Args...> format, Args&&... args) {
  return std::unexpected(Error(fmt::format(format, std::forward<Args>(args)...)));
}

}  // namespace sojourn

// Unwraps a Result into `name`, or returns its error from the enclosing function.
// `name` is declared here: it cannot stand in parentheses.
// NOLINTBEGIN(bugprone-macro-parentheses)
#define SJ_TRY(name, expression)                                                \
  auto name##_result = (expression);                                            \
  if (!name##_result) return std::unexpected(std::move(name##_result).error()); \
  auto& name = *name##_result
// NOLINTEND(bugprone-macro-parentheses)

// The same for a Result<void>.
#define SJ_CHECK(expression)                                 \
  do {                                                       \
    if (auto sj_checked = (expression); !sj_checked)         \
      return std::unexpected(std::move(sj_checked).error()); \
  } while (0)
