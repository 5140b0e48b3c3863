// Text as roff takes it: every character of it comes out as itself.
#pragma once

#include <string>
#include <string_view>

namespace sojourn::cli {

// Words in a line of their own or in the argument of a macro; what stands in `backquotes` is bold.
std::string roff_text(std::string_view text);

// The same without any change of the font: backquotes are themselves.
std::string roff_literal(std::string_view text);

}  // namespace sojourn::cli
