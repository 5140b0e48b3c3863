// Tables whose columns line up. The first column is left-aligned, the others right-aligned; columns
// of words can be made left.
//
// Files and pipes get whole tables. On a narrower terminal, columns that can be spared are left
// out, and the last line names them. Then the foldable column goes on in further lines. A column
// that is both is left out only if there is no room to fold it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace sojourn::present {

class Table {
 public:
  explicit Table(std::vector<std::string> header) { row(std::move(header)); }

  void left(std::size_t column) { left_.push_back(column); }
  // Allows leaving out a column; the one that was named first goes first. `words` describes it if
  // its heading does not.
  void spare(std::size_t column, std::string words = {}) {
    spare_.emplace_back(column, std::move(words));
  }
  enum class At : std::uint8_t { kBlanks, kCommas };
  // A list goes on after one of its commas.
  void fold(std::size_t column, At at = At::kBlanks) {
    fold_ = column;
    fold_at_ = at;
  }
  void row(std::vector<std::string> cells) { rows_.push_back(std::move(cells)); }
  bool empty() const { return rows_.size() <= 1; }
  std::string text(std::size_t width = SIZE_MAX) const;

 private:
  std::vector<std::vector<std::string>> rows_;
  std::vector<std::size_t> left_ = {0};
  std::vector<std::pair<std::size_t, std::string>> spare_;
  std::optional<std::size_t> fold_;
  At fold_at_ = At::kBlanks;
};

}  // namespace sojourn::present
