// Rows as text: comma-separated values as RFC 4180 has them, and a JSON object a line. Integers are
// written in full. One thread owns a writer.
#pragma once

#include <string>
#include <vector>

#include "analysis/exports/output.h"
#include "analysis/exports/rows.h"

namespace sojourn::exports {

// Texts are written by some kilobytes.
class TextRows : public RowWriter {
 public:
  explicit TextRows(Write write) : write_(std::move(write)) {}
  Result<void> finish() override;

 protected:
  std::string& text() { return text_; }
  Result<void> write_if_long();

 private:
  Write write_;
  std::string text_;
};

// The first line names the columns. An empty cell has no text; an empty text has two quotes. Lines
// end with a line feed.
class CsvRows : public TextRows {
 public:
  using TextRows::TextRows;
  Result<void> begin(std::span<const Column> columns) override;
  Result<void> row(std::span<const Cell> cells) override;
};

// Empty cells are left out of their object.
class JsonRows : public TextRows {
 public:
  using TextRows::TextRows;
  Result<void> begin(std::span<const Column> columns) override;
  Result<void> row(std::span<const Cell> cells) override;

 private:
  std::vector<std::string> keys_;  // "name":
};

}  // namespace sojourn::exports
