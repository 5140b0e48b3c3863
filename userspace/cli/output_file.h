// An output file that other programs read or build from: it is replaced completely or not at all.
// One thread owns an OutputFile. An unfinished one leaves nothing behind, even if the program is
// killed: the file has no name before it is complete (O_TMPFILE). On file systems without such
// files it is written beside its place, and removed by the signals that end a program, except
// SIGKILL.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include <sys/types.h>

#include "analysis/base/result.h"
#include "userspace/cli/unfinished_name.h"

namespace sojourn::cli {

// Replaces the file at the end, and keeps its mode and, if this process has the rights, its owner.
// A symbolic link is followed; anything but a regular file is refused.
class OutputFile {
 public:
  // `mode`: for a new file, before the process's umask.
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
  std::optional<UnfinishedName> name_;  // on file systems without O_TMPFILE
  std::string buffer_;
};

// Leaves a file with the same content alone, so that its time stays and nothing is built again.
Result<void> replace_file(const std::string& path, std::string_view content);

}  // namespace sojourn::cli
