// Numbers as people read them, and tables whose columns line up.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace sojourn::report {

// Of distributions with more samples than are kept one by one.
inline constexpr std::string_view kInexact =
    "quantiles of more than 1,000,000 samples are within 0.1 %\n";

std::string duration(double ns);               // "931 ns", "14.2 us", "1.92 ms", "10.0 s"
std::string count(std::uint64_t value);        // "3,412,806"
std::string percent(double share);             // 0.0037 -> "0.37 %"
std::string printable(std::string_view text);  // what a target calls itself, without surprises
std::string bar(double share, std::size_t width);

// The first column is left-aligned, the others right-aligned; columns of words can be made left.
class Table {
 public:
  explicit Table(std::vector<std::string> header) { row(std::move(header)); }

  void left(std::size_t column) { left_.push_back(column); }
  void row(std::vector<std::string> cells) { rows_.push_back(std::move(cells)); }
  bool empty() const { return rows_.size() <= 1; }
  std::string text() const;

 private:
  std::vector<std::vector<std::string>> rows_;
  std::vector<std::size_t> left_ = {0};
};

}  // namespace sojourn::report
