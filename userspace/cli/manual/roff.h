// Escapes text for roff, so that every character comes out as itself.
#pragma once

#include <string>
#include <string_view>

namespace sojourn::cli {

// Text for a line of its own or for a macro's argument; text in `backquotes` becomes bold.
std::string roff_text(std::string_view text);

// The same without bold text: backquotes come out as themselves.
std::string roff_literal(std::string_view text);

}  // namespace sojourn::cli
