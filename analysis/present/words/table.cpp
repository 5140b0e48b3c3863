#include "analysis/present/words/table.h"

#include <algorithm>
#include <functional>
#include <numeric>
#include <string_view>

#include <fmt/format.h>

#include "analysis/present/words/text_format.h"

namespace sojourn::present {
namespace {

constexpr std::size_t kBetween = 2;
constexpr std::size_t kNarrowest = 16;  // of a column that is folded

// One column of a table as it will be printed.
struct Column {
  std::size_t index = 0;
  std::size_t width = 0;
  bool is_left = false;
};

std::size_t width_of(const std::vector<Column>& columns) {
  return std::transform_reduce(columns.begin(), columns.end(), kBetween * (columns.size() - 1),
                               std::plus(), [](const Column& one) { return one.width; });
}

// Returns where a word that is too long for a line is broken: a function's name at its parts.
std::size_t break_within(std::string_view word, std::size_t room) {
  const std::size_t part = word.substr(0, room).find_last_of(":,(<-./");
  return part != std::string_view::npos && part >= room / 2 ? part + 1 : room;
}

// Continuation lines keep the indentation of the first.
std::string folded(std::string cell, std::size_t width, Table::At at) {
  constexpr char kNoBreak = '\x1f';  // printable() leaves none
  if (at == Table::At::kCommas)
    for (std::size_t i = 1; i < cell.size(); ++i)
      if (cell[i] == ' ' && cell[i - 1] != ',') cell[i] = kNoBreak;
  const std::size_t begins = std::min(cell.find_first_not_of(' '), cell.size());
  const std::size_t indent = begins == 0 ? 0 : std::min(begins + 2, width / 2);
  std::string text = wrapped(cell, indent, width);
  for (std::size_t line = 0; line < text.size();) {
    const std::size_t end = std::min(text.find('\n', line), text.size());
    std::size_t next = end + 1;
    if (end - line > width) {
      next = line + break_within(std::string_view(text).substr(line), width);
      text.insert(next++, '\n' + std::string(indent, ' '));
    }
    line = next;
  }
  std::ranges::replace(text, kNoBreak, ' ');
  return text;
}

// Cuts the next line off each cell and returns it.
std::string next_line(std::vector<std::string>& cells, const std::vector<Column>& columns) {
  std::string line;
  for (const Column& column : columns) {
    if (column.index >= cells.size()) break;
    std::string& cell = cells[column.index];
    const std::size_t end = std::min(cell.find('\n'), cell.size());
    const std::string_view part = std::string_view(cell).substr(0, end);
    if (&column != &columns.front()) line.append(kBetween, ' ');
    line += column.is_left ? fmt::format("{:<{}}", part, column.width)
                           : fmt::format("{:>{}}", part, column.width);
    cell.erase(0, std::min(end + 1, cell.size()));
  }
  line.erase(line.find_last_not_of(' ') + 1);
  return line + '\n';
}

}  // namespace

std::string Table::text(std::size_t width) const {
  std::vector<Column> columns;
  for (const auto& row : rows_)
    for (std::size_t i = 0; i < row.size(); ++i) {
      if (i == columns.size())
        columns.push_back({.index = i, .is_left = std::ranges::find(left_, i) != left_.end()});
      columns[i].width = std::max(columns[i].width, row[i].size());
    }
  std::string missing;
  for (const auto& [spare, words] : spare_) {
    const std::size_t all = width_of(columns);
    if (all <= width) break;
    if (spare == fold_) {
      const std::size_t most = std::ranges::find(columns, spare, &Column::index)->width;
      if (all - most + std::min(most, kNarrowest) <= width) break;
    }
    std::erase_if(columns, [&](const Column& one) { return one.index == spare; });
    missing += (missing.empty() ? "" : ", ") + (words.empty() ? rows_.front()[spare] : words);
  }
  const auto fold = std::ranges::find(columns, fold_.value_or(SIZE_MAX), &Column::index);
  if (const std::size_t all = width_of(columns); fold != columns.end() && all > width)
    fold->width = std::max(kNarrowest, fold->width - std::min(fold->width, all - width));

  std::string text;
  for (std::vector<std::string> cells : rows_) {
    if (fold != columns.end() && fold->index < cells.size())
      cells[fold->index] = folded(std::move(cells[fold->index]), fold->width, fold_at_);
    do {
      text += next_line(cells, columns);
    } while (fold != columns.end() && fold->index < cells.size() && !cells[fold->index].empty());
  }
  if (!missing.empty()) text += wrapped("`| less -S` also shows: " + missing, 2, width) + "\n";
  return text;
}

}  // namespace sojourn::present
