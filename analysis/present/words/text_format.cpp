#include "analysis/present/words/text_format.h"

#include <algorithm>
#include <array>
#include <cmath>

#include <fmt/format.h>

#include "analysis/base/count_text.h"

namespace sojourn::present {
namespace {

struct Unit {
  double ns;
  const char* name;
};

constexpr std::array kUnits = {Unit{1e9, "s"}, Unit{1e6, "ms"}, Unit{1e3, "us"}};

// Three digits that mean something.
std::string three_digits(double value) {
  if (value < 9.995) return fmt::format("{:.2f}", value);
  if (value < 99.95) return fmt::format("{:.1f}", value);
  return fmt::format("{:.0f}", value);
}

// The last blank at which a line may end, or the first one behind a word that is too long.
std::size_t break_of(std::string_view line, std::size_t room) {
  const auto words = std::min(line.find_first_not_of(' '), line.size());
  const auto is_digit = [](char c) { return c >= '0' && c <= '9'; };
  auto end = line.rfind(' ', room);
  while (end != std::string_view::npos && end > words && is_digit(line[end - 1]))
    end = line.rfind(' ', end - 1);
  return end != std::string_view::npos && end > words ? end : line.find(' ', std::max(room, words));
}

}  // namespace

std::string duration(double ns) {
  // 999.6 us would read "1000 us": the next unit takes over where rounding reaches it.
  for (const auto& unit : kUnits)
    if (ns >= 0.9995 * unit.ns) return fmt::format("{} {}", three_digits(ns / unit.ns), unit.name);
  return fmt::format("{:.0f} ns", ns);
}

std::string count(std::uint64_t value) {
  return grouped(value);
}

std::string percent(double share) {
  const auto value = share * 100;
  if (value == 0) return "0 %";
  if (value < 0.01) return "< 0.01 %";
  return fmt::format("{} %",
                     value < 1 ? fmt::format("{:.2f}", value) : fmt::format("{:.1f}", value));
}

std::string bar(double share, std::size_t width) {
  const auto full = static_cast<double>(width) * std::clamp(share, 0.0, 1.0);
  return std::string(static_cast<std::size_t>(std::lround(full)), '#');
}

std::string wrapped(std::string_view line, std::size_t indent, std::size_t width) {
  std::string text;
  for (std::size_t room = width; line.size() > room; room = width - std::min(indent, width - 1)) {
    const auto end = break_of(line, room);
    if (end == std::string_view::npos) break;
    text += fmt::format("{}\n{:{}}", line.substr(0, end), "", indent);
    line.remove_prefix(end + 1);
  }
  return text + std::string(line);
}

}  // namespace sojourn::present
