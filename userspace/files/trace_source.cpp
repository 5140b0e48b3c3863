#include <algorithm>
#include <cerrno>
#include <utility>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "userspace/base/fail_errno.h"
#include "userspace/base/fd.h"
#include "userspace/files/file_source.h"
#include "userspace/files/spooled_source.h"
#include "userspace/files/stream_address.h"
#include "userspace/files/trace_file.h"

namespace sojourn::files {

bool FileSource::read_at(std::uint64_t offset, std::span<std::uint8_t> into) {
  while (!into.empty()) {
    const ssize_t got = pread(fd_.get(), into.data(), into.size(), static_cast<off_t>(offset));
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) return false;
    into = into.subspan(static_cast<std::size_t>(got));
    offset += static_cast<std::uint64_t>(got);
  }
  return true;
}

// If the file system does not know its holes, everything counts as data.
std::uint64_t FileSource::next_data(std::uint64_t from) {
  const off_t data = lseek(fd_.get(), static_cast<off_t>(from), SEEK_DATA);
  if (data < 0 && errno == ENXIO) return size_;
  return static_cast<std::uint64_t>(std::max<off_t>(data, 0));
}

Result<std::unique_ptr<trace::ByteSource>> open_source(const std::string& path) {
  if (path.empty()) return fail("open \"\": the name of a file is empty");
  if (is_stream(path)) return open_spooled(path);
  // O_NONBLOCK: opening a FIFO would block until a writer opens it.
  base::Fd fd(open(path.c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC));
  if (!fd) return fail_errno("open {}", path);
  struct stat file{};
  if (fstat(fd.get(), &file) != 0) return fail_errno("open {}", path);
  if (!S_ISREG(file.st_mode)) return fail("open {}: not a regular file", path);
  return std::make_unique<FileSource>(path, std::move(fd),
                                      static_cast<std::uint64_t>(file.st_size));
}

Result<trace::Reader> open_trace(const std::string& path) {
  SJ_TRY(source, open_source(path));
  return trace::Reader::open(std::move(source));
}

}  // namespace sojourn::files
