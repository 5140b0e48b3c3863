#include "analysis/present/live/gauges.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <span>

namespace sojourn::present {

namespace {

constexpr std::array<std::string_view, 8> kHeights = {"▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"};
constexpr std::array<std::string_view, 8> kAsciiHeights = {".", ":", "-", "=", "+", "*", "#", "@"};
// Eighths of a column.
constexpr std::array<std::string_view, 8> kWidths = {" ", "▏", "▎", "▍", "▌", "▋", "▊", "▉"};

bool begins_character(char byte) {
  return (static_cast<unsigned char>(byte) & 0xc0U) != 0x80U;
}

}  // namespace

std::string sparkline(const std::vector<std::uint64_t>& values, std::size_t width, Glyphs glyphs) {
  const auto& heights = glyphs == Glyphs::kBlocks ? kHeights : kAsciiHeights;
  const auto newest = std::span(values).last(std::min(values.size(), width));
  std::uint64_t least = UINT64_MAX;
  std::uint64_t most = 0;
  for (const std::uint64_t value : newest) {
    if (value == 0) continue;
    least = std::min(least, value);
    most = std::max(most, value);
  }
  std::string text;
  for (const std::uint64_t value : newest) {
    if (value == 0) {
      text += ' ';
      continue;
    }
    const double share =
        most == least ? 0.5
                      : static_cast<double>(value - least) / static_cast<double>(most - least);
    text += heights[static_cast<std::size_t>(
        std::lround(share * static_cast<double>(heights.size() - 1)))];
  }
  return text + std::string(width - newest.size(), ' ');
}

std::string gauge(std::uint64_t value, std::uint64_t most, std::size_t width, Glyphs glyphs) {
  if (most == 0) return std::string(width, ' ');
  const double share = std::min(1.0, static_cast<double>(value) / static_cast<double>(most));
  if (glyphs == Glyphs::kAscii) {
    const auto full = static_cast<std::size_t>(std::lround(share * static_cast<double>(width)));
    return std::string(full, '#') + std::string(width - full, ' ');
  }
  auto eighths = static_cast<std::size_t>(std::lround(share * static_cast<double>(width) * 8));
  // A value above 0 is always visible.
  if (value != 0) eighths = std::max<std::size_t>(eighths, 1);
  std::string text;
  for (std::size_t column = 0; column < width; ++column) {
    const std::size_t here = std::min<std::size_t>(eighths - std::min(eighths, column * 8), 8);
    text += here == 8 ? std::string_view("█") : kWidths[here];
  }
  return text;
}

std::size_t columns_of(std::string_view text) {
  return static_cast<std::size_t>(std::ranges::count_if(text, begins_character));
}

std::string cut(std::string_view text, std::size_t width, Glyphs glyphs) {
  if (columns_of(text) <= width) return std::string(text);
  if (width == 0) return {};
  const std::string_view mark = glyphs == Glyphs::kBlocks ? "…" : "~";
  std::size_t columns = 0;
  std::size_t end = 0;
  for (; end < text.size(); ++end)
    if (begins_character(text[end]) && columns++ == width - 1) break;
  return std::string(text.substr(0, end)) + std::string(mark);
}

std::string padded(std::string_view text, std::size_t width, Glyphs glyphs) {
  std::string fitted = cut(text, width, glyphs);
  return fitted + std::string(width - columns_of(fitted), ' ');
}

std::string right_aligned(std::string_view text, std::size_t width) {
  const std::size_t columns = columns_of(text);
  return std::string(width - std::min(width, columns), ' ') + std::string(text);
}

}  // namespace sojourn::present
