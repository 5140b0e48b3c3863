// Prints messages for people to stderr. If that is full or closed they are dropped, as it must
// never end a capture.
#pragma once

#include <algorithm>
#include <cstdio>
#include <string>
#include <utility>

#include <fmt/format.h>

namespace sojourn::cli {

// Names of files in a message may have any character: none of them may command the terminal.
template <typename... Args>
void tell(fmt::format_string<Args...> format, Args&&... args) {
  std::string text = fmt::format(format, std::forward<Args>(args)...);
  const auto is_control = [](char c) {
    return (c >= 0 && c < ' ' && c != '\n' && c != '\t') || c == '\x7f';
  };
  std::ranges::replace_if(text, is_control, '?');
  (void)std::fwrite(text.data(), 1, text.size(), stderr);
}

}  // namespace sojourn::cli
