// Numbers as bars and lines: of block characters if the terminal has them, else of ASCII. No state.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace sojourn::present {

enum class Glyphs : std::uint8_t { kBlocks, kAscii };

// The newest `width` values, one column each, from the lowest block of the smallest to the highest
// of the greatest of them; 0 is a blank. Fewer values stand on the left.
std::string sparkline(const std::vector<std::uint64_t>& values, std::size_t width, Glyphs glyphs);

// Shows `value` of `most` as a bar in `width` columns.
std::string gauge(std::uint64_t value, std::uint64_t most, std::size_t width, Glyphs glyphs);

// Columns that the text takes: each character is one.
std::size_t columns_of(std::string_view text);
// Cuts a longer text, and marks the cut.
std::string cut(std::string_view text, std::size_t width, Glyphs glyphs);
// Fills up to the width with blanks, on the right or on the left; cuts a longer text.
std::string padded(std::string_view text, std::size_t width, Glyphs glyphs);
std::string right_aligned(std::string_view text, std::size_t width);

}  // namespace sojourn::present
