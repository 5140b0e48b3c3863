// A text file's lines, one after the other, gzipped or plain. Memory does not depend on how long
// the file or a line is. One thread owns a LineReader; a line is valid until the next one.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "analysis/base/result.h"

struct gzFile_s;

namespace sojourn::latseq {

struct TextLine {
  std::string_view text;  // without its end
  bool too_long = false;  // more than kMaxLineBytes: the text is not kept
  bool has_end = true;    // only the last line may have none
};

class LineReader {
 public:
  static Result<LineReader> open(const std::string& path);

  // False at the end, or where reading failed.
  bool next(TextLine& line);
  // Why there was no more: empty at the end of the file.
  const std::string& failure() const { return failure_; }

  std::uint64_t done_bytes() const;  // of the file as it is stored
  std::uint64_t size_bytes() const { return size_bytes_; }

 private:
  struct Close {
    void operator()(gzFile_s* file) const;
  };

  LineReader(gzFile_s* file, std::uint64_t size_bytes);
  bool fill();

  std::unique_ptr<gzFile_s, Close> file_;
  std::uint64_t size_bytes_ = 0;
  std::vector<char> buffer_;
  std::size_t begin_ = 0;
  std::size_t end_ = 0;
  bool at_end_ = false;
  std::string failure_;
};

}  // namespace sojourn::latseq
