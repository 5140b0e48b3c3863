// A directory where a command that is started leaves the files of its rings, so that they outlive
// it: made for this capture, in memory, accessible to this user only, and removed with what is in
// it. One that a killed tracer left behind goes when the next one is made. One thread owns it.
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
  base::Fd lock_;  // held while somebody uses the directory
};

// The arenas in a directory, and the number of the process that made each, as it counts itself.
struct ArenaFile {
  std::string path;
  pid_t owner = 0;
  std::uint64_t device = 0;
  std::uint64_t inode = 0;
};
std::vector<ArenaFile> arena_files(const std::string& directory);

// Takes the names from the arenas of all other processes: their memory then ends with them.
void remove_other_arenas(const std::string& directory, pid_t pid);

}  // namespace sojourn::capture
