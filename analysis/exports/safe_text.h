// Names that a target gave itself, made safe for other tools. Any bytes may stand in a thread's or
// a queue's name. No state.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace sojourn::exports {

// One character of a text, which may be no UTF-8.
struct Character {
  char32_t code = 0;
  std::size_t bytes = 1;
  bool is_valid = false;
};
// The first character of a text that is not empty.
Character first_character(std::string_view text);

// Valid UTF-8, and else as it was: each byte that is none becomes U+FFFD.
std::string utf8_text(std::string_view text);

// The same for lists and pictures, where people see it beside other names: line ends, controls and
// the characters that turn the direction of writing or cannot be seen become U+FFFD as well.
std::string shown_text(std::string_view text);

// Behind `out`: the text as JSON has it between two quotes, with them. Characters that are not
// ASCII are escaped, so that no terminal turns them around.
void append_json_text(std::string& out, std::string_view text);

}  // namespace sojourn::exports
