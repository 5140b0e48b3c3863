// A table for people: columns as wide as their longest text, the last one as it comes.
#pragma once

#include <algorithm>
#include <cstddef>
#include <string>
#include <utility>
#include <vector>

#include <fmt/core.h>

namespace sojourn::cli {

class Table {
 public:
  explicit Table(std::vector<std::string> heading) { add(std::move(heading)); }

  void add(std::vector<std::string> row) { rows_.push_back(std::move(row)); }

  void print() const {
    std::vector<std::size_t> widths(rows_.front().size());
    for (const auto& row : rows_)
      for (std::size_t column = 0; column < row.size(); ++column)
        widths[column] = std::max(widths[column], row[column].size());
    for (const auto& row : rows_) {
      std::string line;
      for (std::size_t column = 0; column + 1 < row.size(); ++column)
        line += fmt::format("{:<{}}  ", row[column], widths[column]);
      fmt::print("{}{}\n", line, row.back());
    }
  }

 private:
  std::vector<std::vector<std::string>> rows_;
};

}  // namespace sojourn::cli
