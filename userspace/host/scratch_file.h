// A file to measure with, of bounded size. It has no name from its first moment on, so nothing is
// left of it however this process ends. Closes itself. Moves only.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>

#include "analysis/base/result.h"
#include "userspace/base/fd.h"

namespace sojourn::host {

class ScratchFile {
 public:
  // Filled with what no file system can leave out, and written to the disk. Refuses where that
  // would take more than a tenth of what is free.
  static Result<ScratchFile> make(const std::string& directory, std::size_t bytes);

  int fd() const { return fd_.get(); }
  std::size_t size() const { return bytes_; }
  // The same file again, past the cache. Fails where the file system has no such way.
  Result<base::Fd> open_direct() const;
  // Takes it out of the cache, as far as the kernel will; the share of it that stayed.
  double drop_from_cache() const;
  double cached_share() const;

 private:
  ScratchFile(base::Fd fd, std::size_t bytes) : fd_(std::move(fd)), bytes_(bytes) {}

  base::Fd fd_;
  std::size_t bytes_;
};

}  // namespace sojourn::host
