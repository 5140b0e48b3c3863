// Names of files in a command that a message proposes: one word for a shell, whatever they hold.
#pragma once

#include <string>
#include <string_view>

namespace sojourn {

// A plain name stays as it is; any other stands in quotes. Control characters become '?', as a
// terminal would obey them: such a name has to be typed.
inline std::string shell_word(std::string_view name) {
  constexpr std::string_view kPlain =
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_./,:@%+=-";
  const bool is_option = name.starts_with('-') && name != "-";  // alone: standard input
  const bool is_plain = !name.empty() && name.find_first_not_of(kPlain) == std::string_view::npos;
  if (is_plain && !is_option) return std::string(name);
  std::string word = is_option ? "'./" : "'";
  for (const char character : name) {
    if (character == '\'')
      word += "'\\''";
    else
      word += (character >= 0 && character < ' ') || character == '\x7f' ? '?' : character;
  }
  return word + "'";
}

}  // namespace sojourn
