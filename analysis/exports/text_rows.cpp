#include "analysis/exports/text_rows.h"

#include <cstddef>
#include <iterator>
#include <string_view>
#include <type_traits>

#include <fmt/format.h>

#include "analysis/exports/safe_text.h"

namespace sojourn::exports {

namespace {

constexpr std::size_t kLongBytes = 64 * 1024;

void append_csv_text(std::string& out, std::string_view text) {
  const bool is_plain = !text.empty() && text.find_first_of(",\"\r\n") == std::string_view::npos &&
                        text.front() != ' ' && text.back() != ' ';
  if (!is_plain) out += '"';
  for (const char c : text) {
    if (c == '"') out += '"';
    out += c;
  }
  if (!is_plain) out += '"';
}

// The format decides how texts are written.
template <typename AppendText>
void append_cell(std::string& out, const Cell& cell, const AppendText& append_text) {
  std::visit(
      [&](const auto& value) {
        using Value = std::remove_cvref_t<decltype(value)>;
        if constexpr (std::is_same_v<Value, bool>)
          out += value ? "true" : "false";
        else if constexpr (std::is_integral_v<Value>)
          fmt::format_to(std::back_inserter(out), "{}", value);
        else if constexpr (std::is_same_v<Value, std::string_view>)
          append_text(out, value);
      },
      cell);
}

void append_csv_utf8(std::string& out, std::string_view text) {
  append_csv_text(out, utf8_text(text));
}

}  // namespace

Result<void> TextRows::write_if_long() {
  return text_.size() < kLongBytes ? Result<void>() : finish();
}

Result<void> TextRows::finish() {
  auto written = write_(text_);
  text_.clear();
  return written;
}

Result<void> CsvRows::begin(std::span<const Column> columns) {
  std::string_view before;
  for (const Column& column : columns) {
    text() += before;
    append_csv_utf8(text(), column.name);
    before = ",";
  }
  text() += '\n';
  return {};
}

Result<void> CsvRows::row(std::span<const Cell> cells) {
  std::string_view before;
  for (const Cell& cell : cells) {
    text() += before;
    append_cell(text(), cell, append_csv_utf8);
    before = ",";
  }
  text() += '\n';
  return write_if_long();
}

Result<void> JsonRows::begin(std::span<const Column> columns) {
  for (const Column& column : columns) {
    std::string& key = keys_.emplace_back();
    append_json_text(key, column.name);
    key += ':';
  }
  return {};
}

Result<void> JsonRows::row(std::span<const Cell> cells) {
  text() += '{';
  std::string_view before;
  for (std::size_t at = 0; at < cells.size(); ++at) {
    if (std::holds_alternative<std::monostate>(cells[at])) continue;
    text() += before;
    text() += keys_[at];
    append_cell(text(), cells[at], append_json_text);
    before = ",";
  }
  text() += "}\n";
  return write_if_long();
}

}  // namespace sojourn::exports
