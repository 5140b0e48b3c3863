// Numbers as bars and lines of blocks, where a terminal has them, else of plain ASCII. No state.
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

// `value` of `most`, in so many columns.
std::string gauge(std::uint64_t value, std::uint64_t most, std::size_t width, Glyphs glyphs);

// Columns that the text takes: each character is one.
std::size_t columns_of(std::string_view text);
// Cut where it is longer, with a mark of that.
std::string cut(std::string_view text, std::size_t width, Glyphs glyphs);
// Filled with blanks up to the width, on the right or on the left; cut where it is longer.
std::string padded(std::string_view text, std::size_t width, Glyphs glyphs);
std::string right_aligned(std::string_view text, std::size_t width);

}  // namespace sojourn::present
