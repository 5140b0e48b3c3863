// Escapes text for roff, so that every character comes out as itself.
#pragma once

#include <string>
#include <string_view>

namespace sojourn::cli {

// Text for a line of its own or for a macro's argument; text in `backquotes` becomes bold.
std::string roff_text(std::string_view text);

// A text without bold parts: backquotes stay backquotes.
std::string roff_literal(std::string_view text);

}  // namespace sojourn::cli
