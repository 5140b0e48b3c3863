// One of X-Lap's tables: text with commas, names in the first line, a packet in each other one. One
// thread owns a Table; a row is valid until the next one.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "analysis/base/result.h"
#include "analysis/imports/byte_stream.h"
#include "analysis/imports/line_reader.h"

namespace sojourn::xlap {

// Microseconds with or without a fraction, as nanoseconds; nothing for another text.
std::optional<std::uint64_t> parse_us(std::string_view text);
// A whole number; X-Lap's tables may write it with a fraction of zeros.
std::optional<std::uint64_t> parse_number(std::string_view text);
// Empty, 0 or nan: the packet did not pass there.
bool is_missing(std::string_view text);

class Table {
 public:
  // Reads the names. The stream must outlive the table.
  static Result<Table> open(imports::ByteStream& stream, std::string path);

  const std::string& path() const { return path_; }
  std::optional<std::size_t> column(std::string_view name) const;
  const std::vector<std::string>& columns() const { return columns_; }

  // Returns false at the end. Fails if a row has other columns than the table.
  Result<bool> next();
  std::size_t line() const { return line_; }
  std::string_view operator[](std::size_t column) const { return cells_[column]; }
  // The last line had no end and was left out: it may be cut.
  bool is_cut() const { return is_cut_; }
  const std::string& failure() const { return reader_->failure(); }

  // An error at this row.
  template <typename... Args>
  std::unexpected<Error> fail_here(fmt::format_string<Args...> format, Args&&... args) const {
    return fail("{}:{}: {}", path_, line_, fmt::format(format, std::forward<Args>(args)...));
  }

 private:
  Table(imports::ByteStream& stream, std::string path)
      : reader_(std::make_unique<imports::LineReader>(stream)), path_(std::move(path)) {}

  std::unique_ptr<imports::LineReader> reader_;
  std::string path_;
  std::vector<std::string> columns_;
  std::vector<std::string_view> cells_;
  std::size_t line_ = 0;
  bool is_cut_ = false;
};

}  // namespace sojourn::xlap
