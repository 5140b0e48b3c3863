// A temporary file of bounded size. It has no name, so nothing remains of it however this process
// ends. Closes itself. Moves only.
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
  // Fills the file with incompressible data and writes it to the disk. Refuses to take more than a
  // tenth of the free space.
  static Result<ScratchFile> make(const std::string& directory, std::size_t bytes);

  int fd() const { return fd_.get(); }
  std::size_t size() const { return bytes_; }
  // The same file, opened for direct reads. Fails if the file system does not support them.
  Result<base::Fd> open_direct() const;
  // Drops the file from the cache. Returns the share that the kernel kept.
  double drop_from_cache() const;
  double cached_share() const;

 private:
  ScratchFile(base::Fd fd, std::size_t bytes) : fd_(std::move(fd)), bytes_(bytes) {}

  base::Fd fd_;
  std::size_t bytes_;
};

}  // namespace sojourn::host
