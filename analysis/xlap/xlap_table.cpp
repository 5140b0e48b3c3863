#include "analysis/xlap/xlap_table.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <utility>

namespace sojourn::xlap {
namespace {

constexpr std::size_t kMaxColumns = 2000;

std::string_view trimmed(std::string_view text) {
  const auto is_around = [](char c) { return c == ' ' || c == '\t' || c == '\r' || c == '"'; };
  while (!text.empty() && is_around(text.front())) text.remove_prefix(1);
  while (!text.empty() && is_around(text.back())) text.remove_suffix(1);
  return text;
}

void split(std::string_view line, std::vector<std::string_view>& cells) {
  cells.clear();
  while (true) {
    const auto comma = line.find(',');
    cells.push_back(trimmed(line.substr(0, comma)));
    if (comma == std::string_view::npos || cells.size() > kMaxColumns) return;
    line.remove_prefix(comma + 1);
  }
}

// In thousandths.
std::optional<std::uint64_t> parse_thousandths(std::string_view text) {
  std::uint64_t whole = 0;
  const char* const end = text.data() + text.size();
  auto [rest, error] = std::from_chars(text.data(), end, whole);
  if (error != std::errc() || whole > UINT64_MAX / 1000 - 1) return std::nullopt;
  std::uint64_t thousandths = whole * 1000;
  if (rest == end) return thousandths;
  if (*rest == '.') {
    ++rest;
    std::uint64_t weight = 100;
    for (; rest != end && *rest >= '0' && *rest <= '9'; ++rest) {
      thousandths += weight * static_cast<std::uint64_t>(*rest - '0');
      weight /= 10;
    }
    if (rest == end) return thousandths;
  }
  // "1.498e+15", as spreadsheets write it.
  double value = 0;
  const auto [last, wrong] = std::from_chars(text.data(), end, value);
  constexpr double kMost = 9e15;
  if (wrong != std::errc() || last != end || !std::isfinite(value) || value < 0 || value > kMost)
    return std::nullopt;
  return static_cast<std::uint64_t>(value * 1000);
}

}  // namespace

std::optional<std::uint64_t> parse_us(std::string_view text) {
  const auto ns = parse_thousandths(text);
  return ns && *ns > static_cast<std::uint64_t>(INT64_MAX) ? std::nullopt : ns;
}

std::optional<std::uint64_t> parse_number(std::string_view text) {
  std::uint64_t whole = 0;
  const char* const end = text.data() + text.size();
  const auto [rest, error] = std::from_chars(text.data(), end, whole);
  if (error == std::errc() && rest == end) return whole;
  const auto thousandths = parse_thousandths(text);
  if (!thousandths || *thousandths % 1000 != 0) return std::nullopt;
  return *thousandths / 1000;
}

bool is_missing(std::string_view text) {
  return text.empty() || text == "0" || text == "0.0" || text == "nan" || text == "NaN";
}

Result<Table> Table::open(imports::ByteStream& stream, std::string path) {
  Table table(stream, std::move(path));
  imports::TextLine line;
  table.line_ = 1;
  if (!table.reader_->next(line))
    return table.fail_here("{}", table.failure().empty() ? "is empty" : table.failure());
  if (line.too_long) return table.fail_here("longer than a line of names can be");
  split(line.text, table.cells_);
  if (table.cells_.size() > kMaxColumns)
    return table.fail_here("more than {} columns", kMaxColumns);
  for (const std::string_view name : table.cells_) {
    if (!name.empty() && std::ranges::find(table.columns_, name) != table.columns_.end())
      return table.fail_here("column {} is there twice", name);
    table.columns_.emplace_back(name);
  }
  return table;
}

std::optional<std::size_t> Table::column(std::string_view name) const {
  const auto found = std::ranges::find(columns_, name);
  if (found == columns_.end()) return std::nullopt;
  return static_cast<std::size_t>(found - columns_.begin());
}

Result<bool> Table::next() {
  imports::TextLine line;
  while (reader_->next(line)) {
    ++line_;
    if (!line.has_end) {
      is_cut_ = true;
      return false;
    }
    if (line.too_long) return fail_here("longer than {} bytes", imports::kMaxLineBytes);
    if (trimmed(line.text).empty()) continue;
    split(line.text, cells_);
    if (cells_.size() != columns_.size())
      return fail_here("{} columns where the first line names {}", cells_.size(), columns_.size());
    return true;
  }
  return false;
}

}  // namespace sojourn::xlap
