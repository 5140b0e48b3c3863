// A directory for the ring files of a command that the capture starts, so that they outlive the
// command: made for this capture, in memory, accessible to this user only, and removed with its
// files. A directory that a killed tracer left behind is removed when the next one is made. One
// thread owns it.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include <sys/types.h>

#include "analysis/base/result.h"
#include "userspace/base/fd.h"

namespace sojourn::capture {

class RingDirectory {
 public:
  static Result<RingDirectory> make();
  RingDirectory(RingDirectory&& other) noexcept;
  RingDirectory& operator=(RingDirectory&&) = delete;
  ~RingDirectory();

  const std::string& path() const { return path_; }

 private:
  RingDirectory(std::string path, base::Fd lock) : path_(std::move(path)), lock_(std::move(lock)) {}

  std::string path_;
  base::Fd lock_;  // held while the directory is in use
};

// The arenas in a directory, and the pid of the process that made each, in its own namespace.
struct ArenaFile {
  std::string path;
  pid_t owner = 0;
  std::uint64_t device = 0;
  std::uint64_t inode = 0;
};
std::vector<ArenaFile> arena_files(const std::string& directory);

// Unlinks the arenas of all other processes, so that their memory is freed when those end.
void remove_other_arenas(const std::string& directory, pid_t pid);

}  // namespace sojourn::capture
