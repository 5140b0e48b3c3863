// Rows as an Apache Parquet file: flat, each column may be empty, values as they are (PLAIN), a
// page a column in each group of rows, packed by gzip. Notes about the trace are in the file's
// metadata. Memory is that of a group of rows. One thread owns a ParquetRows.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "analysis/exports/output.h"
#include "analysis/exports/rows.h"

namespace sojourn::exports {

class ParquetRows : public RowWriter {
 public:
  static constexpr std::size_t kGroupRows = 32 * 1024;

  explicit ParquetRows(Write write) : write_(std::move(write)) {}

  Result<void> begin(std::span<const Column> columns) override;
  Result<void> row(std::span<const Cell> cells) override;
  void note(std::string_view key, std::string_view value) override;
  Result<void> finish() override;

 private:
  struct Chunk {
    std::uint64_t offset = 0;
    std::uint64_t plain_bytes = 0;  // with the page's header
    std::uint64_t packed_bytes = 0;
  };
  struct Group {
    std::uint64_t rows = 0;
    std::vector<Chunk> chunks;  // by column
  };
  struct Values {
    std::string is_there;  // a bit a row
    std::string plain;
    std::size_t bools = 0;
  };

  Result<void> write(std::string_view bytes);
  Result<void> write_group();
  Result<Chunk> write_chunk(const Values& values);
  std::string footer() const;

  Write write_;
  std::uint64_t written_ = 0;
  std::vector<Column> columns_;
  std::vector<Values> values_;
  std::size_t rows_ = 0;  // of the group under way
  std::vector<Group> groups_;
  std::vector<std::pair<std::string, std::string>> notes_;
};

}  // namespace sojourn::exports
