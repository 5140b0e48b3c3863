#include "userspace/files/nameless_file.h"

#include <cerrno>
#include <cstdlib>
#include <string>

#include <fcntl.h>
#include <unistd.h>

#include "userspace/base/fail_errno.h"

namespace sojourn::files {

Result<base::Fd> nameless_file() {
  const char* const wanted = std::getenv("TMPDIR");
  std::string directory = wanted != nullptr && *wanted != '\0' ? wanted : "/tmp";
  base::Fd fd(open(directory.c_str(), O_TMPFILE | O_RDWR | O_CLOEXEC, 0600));
  if (fd) return fd;
  // This file system has no files without a name.
  std::string name = directory + "/sojourn-XXXXXX";
  fd = base::Fd(mkostemp(name.data(), O_CLOEXEC));
  if (!fd) return fail_errno("make a temporary file in {}", directory);
  unlink(name.c_str());
  return fd;
}

Result<void> append(const base::Fd& nameless, std::span<const std::uint8_t> bytes) {
  while (!bytes.empty()) {
    const ssize_t written = write(nameless.get(), bytes.data(), bytes.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) return fail_errno("write a temporary file");
    bytes = bytes.subspan(static_cast<std::size_t>(written));
  }
  return {};
}

}  // namespace sojourn::files
