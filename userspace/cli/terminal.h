// The width of text for people on standard output.
#pragma once

#include <cstddef>
#include <optional>

namespace sojourn::cli {

// The columns of the terminal; none if standard output is no terminal.
std::optional<std::size_t> terminal_width();

// The longest line for standard output; unlimited if that is no terminal.
std::size_t line_width();

// The width for pictures: the terminal's; 100 without a terminal.
std::size_t picture_width();

// The width for help: the terminal's, as far as long lines are readable; 80 without a terminal.
std::size_t help_width();

}  // namespace sojourn::cli
