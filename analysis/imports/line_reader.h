// A text's lines, one after the other. Memory does not depend on how long the text or a line is.
// One thread owns a LineReader; a line is valid until the next one.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "analysis/imports/byte_stream.h"

namespace sojourn::imports {

inline constexpr std::size_t kMaxLineBytes = 64 * 1024;

struct TextLine {
  std::string_view text;  // without its end
  bool too_long = false;  // more than kMaxLineBytes: the text is not kept
  bool has_end = true;    // only the last line may have none
};

class LineReader {
 public:
  // The stream must outlive the reader.
  explicit LineReader(ByteStream& stream);

  // False at the end, or where reading failed.
  bool next(TextLine& line);
  // Why there was no more: empty at the end.
  const std::string& failure() const { return failure_; }

 private:
  bool fill();

  ByteStream& stream_;
  std::vector<char> buffer_;
  std::size_t begin_ = 0;
  std::size_t end_ = 0;
  bool at_end_ = false;
  std::string failure_;
};

}  // namespace sojourn::imports
