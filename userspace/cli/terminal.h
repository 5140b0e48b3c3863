// How wide what people read on standard output may be.
#pragma once

#include <cstddef>
#include <optional>

namespace sojourn::cli {

// Columns of the terminal that standard output is; none where it is no terminal.
std::optional<std::size_t> terminal_width();

// What a line on standard output may be as long as: whole where that is no terminal.
std::size_t line_width();

// Of the terminal that standard output is, as far as lines are good to read; else 80.
std::size_t help_width();

}  // namespace sojourn::cli
