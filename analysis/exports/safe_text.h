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

// Makes valid UTF-8: each invalid byte becomes U+FFFD.
std::string utf8_text(std::string_view text);

// For lists and pictures, where people see a name beside others: line ends, controls, invisible
// characters and those that turn the direction of writing become U+FFFD as well.
std::string shown_text(std::string_view text);

// Appends the text as a JSON string to `out`, with its quotes. Characters outside of ASCII are
// escaped, so that no terminal turns them around.
void append_json_text(std::string& out, std::string_view text);

}  // namespace sojourn::exports
