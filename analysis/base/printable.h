// Names that a target gave itself, made safe to print: plain ASCII in one line.
#pragma once

#include <string>
#include <string_view>

namespace sojourn {

inline std::string printable(std::string_view text) {
  std::string result(text);
  for (auto& character : result)
    if (character < ' ' || character > '~') character = '?';
  return result;
}

}  // namespace sojourn
