// How everything in sojourn fails: a function that can fail returns Result<T>. The text of its
// Error says what failed, on what, and why, e.g. "open /proc/4242/maps: No such process". An Error
// is made at the failing call, callers may put context in front on the way up, and main prints it
// once. Callers decide by the error's kind, never by its text.
#pragma once

#include <cstdint>
#include <expected>
#include <string>
#include <string_view>
#include <utility>

#include <fmt/format.h>

namespace sojourn {

// A kind exists only if some caller acts on it.
enum class ErrorKind : std::uint8_t {
  kOther,
  kNotPermitted,    // for this user
  kNoAnswer,        // the process that was asked has ended, or said half of an answer
  kConditionHolds,  // a condition of --fail-on holds
  kTooLittleData,   // to say whether it holds
};

class Error {
 public:
  explicit Error(std::string text, ErrorKind kind = ErrorKind::kOther)
      : text_(std::move(text)), kind_(kind) {}

  const std::string& text() const { return text_; }
  ErrorKind kind() const { return kind_; }

  Error within(std::string_view context) && {
    text_ = fmt::format("{}: {}", context, text_);
    return std::move(*this);
  }

 private:
  std::string text_;
  ErrorKind kind_;
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

// SJ_TRY for a Result<void>.
#define SJ_CHECK(expression)                                 \
  do {                                                       \
    if (auto sj_checked = (expression); !sj_checked)         \
      return std::unexpected(std::move(sj_checked).error()); \
  } while (0)
