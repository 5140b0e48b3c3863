// Names that a target may give itself, and that no format may stumble over.
#pragma once

#include <array>
#include <string>

namespace sojourn::exports {

inline std::array<std::string, 9> hostile_names() {
  return {"a \"quote\", a comma",
          "a line\nand another\r\n",
          "back\\slash and 'ticks' `too`",
          "</script><b>&amp;",
          "\xE2\x80\xAE"
          "txt.exe\xE2\x80\x8B",  // turns the direction, and has no width
          "caf\xC3\xA9 \xF0\x9F\x93\xA1",
          "no UTF-8: \xFF\xC0\x80\xED\xA0\x80",
          std::string("a\0b", 3) + "\x1b[31m",
          std::string(10'000, 'x')};
}

}  // namespace sojourn::exports
