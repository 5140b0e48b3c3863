// A file that others read or build from: it is complete or as it was, never in between. One thread
// owns an OutputFile; one that is not finished leaves nothing behind, and neither does a program
// that is killed meanwhile: what is written has no name before it is complete. On file systems that
// have no files without names (O_TMPFILE) it is a file beside it, which the signals that end a
// program remove, but for SIGKILL.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include <sys/types.h>

#include "analysis/base/result.h"
#include "userspace/cli/unfinished_name.h"

namespace sojourn::cli {

// What is written takes the place of the file at the end, with that one's mode and, where this
// process may give it away, owner. A link stays a link; what is no regular file is refused.
class OutputFile {
 public:
  // `mode`: of a file that is new, before the process's mask.
  static Result<OutputFile> create(const std::string& path, mode_t mode = 0666);
  OutputFile(OutputFile&& other) noexcept;
  OutputFile& operator=(OutputFile&&) = delete;
  ~OutputFile();

  Result<void> write(std::string_view content);
  Result<void> finish();

 private:
  OutputFile(std::string path, mode_t mode) : path_(std::move(path)), mode_(mode) {}
  bool open_nameless();
  Result<void> open_named();
  Result<void> flush();
  Result<bool> resemble_replaced() const;
  Result<void> link_over() const;

  std::string path_;
  mode_t mode_;
  int fd_ = -1;
  std::optional<UnfinishedName> name_;  // where files cannot do without
  std::string buffer_;
};

// Leaves a file alone that would not change, time and all, so that nothing is built again for it.
Result<void> replace_file(const std::string& path, std::string_view content);

}  // namespace sojourn::cli
