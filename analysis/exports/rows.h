// A table that is written row by row in any format. Its columns are known before the first row.
// Plain data and an interface.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <variant>

#include "analysis/base/result.h"

namespace sojourn::exports {

enum class CellType : std::uint8_t { kUnsigned, kInteger, kBool, kText };

struct Column {
  std::string name;
  CellType type = CellType::kUnsigned;

  bool operator==(const Column&) const = default;
};

// A value of its column's type, or an empty one. A text is valid until the call ends.
using Cell = std::variant<std::monostate, std::uint64_t, std::int64_t, bool, std::string_view>;

// One thread owns a RowWriter.
class RowWriter {
 public:
  RowWriter() = default;
  RowWriter(const RowWriter&) = delete;
  RowWriter& operator=(const RowWriter&) = delete;
  virtual ~RowWriter() = default;

  // Called once, before the first row. The columns must outlive the writer.
  virtual Result<void> begin(std::span<const Column> columns) = 0;
  // Takes one cell for each column.
  virtual Result<void> row(std::span<const Cell> cells) = 0;
  // Something about the trace, before finish(). A format that has no place for it leaves it out.
  virtual void note(std::string_view /*key*/, std::string_view /*value*/) {}
  // Called once, after the last row.
  virtual Result<void> finish() = 0;
};

// A cell that is there only where `is_there`.
template <typename Value>
Cell cell_if(bool is_there, Value value) {
  return is_there ? Cell(value) : Cell();
}

}  // namespace sojourn::exports
