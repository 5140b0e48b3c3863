#include "userspace/tracee/file_bytes.h"

#include <cerrno>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "userspace/base/fail_errno.h"
#include "userspace/tracee/procfs.h"

namespace sojourn::tracee {

Result<std::uint64_t> open_regular(const std::string& path, base::Fd& file) {
  // O_NONBLOCK: a pipe must not block. O_NOCTTY: a terminal must not become the controlling one.
  file = open_path(path, O_RDONLY | O_NONBLOCK | O_NOCTTY);
  if (!file) return fail_errno("open {}", path);
  struct stat status{};
  if (fstat(file.get(), &status) != 0) return fail_errno("stat {}", path);
  if (!S_ISREG(status.st_mode)) return fail("{} is not a regular file", path);
  return static_cast<std::uint64_t>(status.st_size);
}

bool read_fully(int file, std::uint64_t offset, std::span<std::byte> bytes) {
  while (!bytes.empty()) {
    const ssize_t count = pread(file, bytes.data(), bytes.size(), static_cast<off_t>(offset));
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) return false;
    offset += static_cast<std::uint64_t>(count);
    bytes = bytes.subspan(static_cast<std::size_t>(count));
  }
  return true;
}

}  // namespace sojourn::tracee
