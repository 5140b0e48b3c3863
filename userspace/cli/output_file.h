// A file that others read or build from: it is complete or as it was, never in between. One thread
// owns an OutputFile; one that is not finished leaves nothing behind.
#pragma once

#include <string>
#include <string_view>

#include "analysis/base/result.h"

namespace sojourn::cli {

// What is written goes to a file beside it, which takes its place at the end. A link stays a link;
// what is no regular file is refused.
class OutputFile {
 public:
  static Result<OutputFile> create(const std::string& path);
  OutputFile(OutputFile&& other) noexcept;
  OutputFile& operator=(OutputFile&&) = delete;
  ~OutputFile();

  Result<void> write(std::string_view content);
  Result<void> finish();

 private:
  explicit OutputFile(std::string path);
  Result<void> flush();

  std::string path_;
  std::string name_;  // of the file beside it; empty: there is none
  int fd_ = -1;
  std::string buffer_;
};

// Leaves a file alone that would not change, time and all, so that nothing is built again for it.
Result<void> replace_file(const std::string& path, std::string_view content);

}  // namespace sojourn::cli
