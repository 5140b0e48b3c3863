#include "analysis/report/words.h"

#include <algorithm>
#include <array>
#include <cmath>

#include <fmt/format.h>

namespace sojourn::report {
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

}  // namespace

std::string duration(double ns) {
  // 999.6 us would read "1000 us": the next unit takes over where rounding reaches it.
  for (const auto& unit : kUnits)
    if (ns >= 0.9995 * unit.ns) return fmt::format("{} {}", three_digits(ns / unit.ns), unit.name);
  return fmt::format("{:.0f} ns", ns);
}

std::string count(std::uint64_t value) {
  const auto digits = std::to_string(value);
  std::string text;
  for (std::size_t i = 0; i < digits.size(); ++i) {
    if (i > 0 && (digits.size() - i) % 3 == 0) text += ',';
    text += digits[i];
  }
  return text;
}

std::string printable(std::string_view text) {
  std::string result(text);
  for (auto& character : result)
    if (character < ' ' || character > '~') character = '?';
  return result;
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

std::string Table::text() const {
  std::vector<std::size_t> widths;
  for (const auto& row : rows_) {
    widths.resize(std::max(widths.size(), row.size()));
    for (std::size_t i = 0; i < row.size(); ++i) widths[i] = std::max(widths[i], row[i].size());
  }
  std::string text;
  for (const auto& row : rows_) {
    std::string line;
    for (std::size_t i = 0; i < row.size(); ++i) {
      if (i > 0) line += "  ";
      const bool left = std::ranges::find(left_, i) != left_.end();
      line += left ? fmt::format("{:<{}}", row[i], widths[i])
                   : fmt::format("{:>{}}", row[i], widths[i]);
    }
    line.erase(line.find_last_not_of(' ') + 1);
    text.append(line).push_back('\n');
  }
  return text;
}

}  // namespace sojourn::report
