#include <cerrno>
#include <cstdio>
#include <utility>

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "analysis/trace/format.h"
#include "userspace/base/fail_errno.h"
#include "userspace/base/fd.h"
#include "userspace/files/trace_file.h"

namespace sojourn::files {

namespace {

constexpr const char* kPartial = ".partial";

constexpr off_t kHeaderBytes = sizeof(trace::FileHeader);

// The file being written. After a failed write it removes the incomplete block, if possible.
class FileSink : public trace::ByteSink {
 public:
  static Result<std::unique_ptr<trace::ByteSink>> create(const std::string& path) {
    struct stat existing{};
    const bool exists = lstat(path.c_str(), &existing) == 0;
    if (exists && S_ISLNK(existing.st_mode))
      return fail("write {}: is a symbolic link: give the name of the file that it points to",
                  path);
    if (exists && !S_ISREG(existing.st_mode))
      return fail("write {}: exists and is not a regular file", path);
    const std::string partial = path + kPartial;
    SJ_TRY(put_aside, put_abandoned_aside(partial));
    // Always a new file, and no link is followed: in a world-writable directory the name may be a
    // trap.
    base::Fd fd(open(partial.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600));
    if (!fd) return fail_errno("write {}", partial);
    if (flock(fd.get(), LOCK_EX | LOCK_NB) != 0) return fail_errno("lock {}", partial);
    return std::make_unique<FileSink>(path, partial, std::move(put_aside), std::move(fd));
  }

  FileSink(std::string path, std::string partial, std::string put_aside, base::Fd fd)
      : path_(std::move(path)),
        partial_(std::move(partial)),
        put_aside_(std::move(put_aside)),
        fd_(std::move(fd)) {}

  std::uint64_t size() const override { return size_; }
  const std::string& put_aside() const override { return put_aside_; }

  Result<void> append(std::span<const std::uint8_t> bytes) override {
    std::span<const std::uint8_t> rest = bytes;
    while (!rest.empty()) {
      const ssize_t written = ::write(fd_.get(), rest.data(), rest.size());
      if (written < 0 && errno == EINTR) continue;
      if (written < 0) {
        auto error = size_ == 0 ? fail_errno("write {}", partial_)
                                : fail_errno("write {}, which keeps what came before", partial_);
        // An incomplete block is useless to a reader.
        if (ftruncate(fd_.get(), static_cast<off_t>(size_)) != 0) return error;
        return error;
      }
      rest = rest.subspan(static_cast<std::size_t>(written));
    }
    size_ += bytes.size();
    return {};
  }

  void abandon() override { unlink(partial_.c_str()); }

  Result<void> finish() override {
    if (!fd_) return fail("write {}: finished already", path_);
    if (close(fd_.release()) != 0) return fail_errno("write {}", partial_);
    if (std::rename(partial_.c_str(), path_.c_str()) != 0)
      return fail_errno("rename {} to {}", partial_, path_);
    return {};
  }

 private:
  // A file of that name was left by a killed capture, or is still being written: then its writer
  // holds a lock. A file that was left may be the only record of an incident, so it is kept under
  // another name, which is returned.
  static Result<std::string> put_abandoned_aside(const std::string& partial) {
    struct stat existing{};
    if (lstat(partial.c_str(), &existing) != 0)
      return errno == ENOENT ? Result<std::string>{} : fail_errno("write {}", partial);
    if (S_ISDIR(existing.st_mode)) return fail("write {}: is a directory", partial);
    if (S_ISREG(existing.st_mode)) {
      const base::Fd fd(open(partial.c_str(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC));
      const bool is_locked = fd && flock(fd.get(), LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK;
      if (is_locked) return fail("write {}: another capture is writing it", partial);
    }
    const bool has_blocks = S_ISREG(existing.st_mode) && existing.st_size > kHeaderBytes;
    std::string aside = has_blocks ? partial + "~" : "";
    const int done =
        has_blocks ? std::rename(partial.c_str(), aside.c_str()) : unlink(partial.c_str());
    if (done != 0 && errno != ENOENT) return fail_errno("replace {}", partial);
    return aside;
  }

  std::string path_;
  std::string partial_;
  std::string put_aside_;
  base::Fd fd_;
  std::uint64_t size_ = 0;
};

}  // namespace

// A reader's lock fails where a writer holds its own, and is given back at once.
bool has_writer(int fd) {
  if (flock(fd, LOCK_SH | LOCK_NB) != 0) return errno == EWOULDBLOCK;
  flock(fd, LOCK_UN);
  return false;
}

std::optional<PartialTrace> partial_of(const std::string& path) {
  std::string partial = path + kPartial;
  const base::Fd fd(open(partial.c_str(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC));
  struct stat file{};
  if (!fd || fstat(fd.get(), &file) != 0 || !S_ISREG(file.st_mode)) return std::nullopt;
  return PartialTrace{.path = std::move(partial), .has_writer = has_writer(fd.get())};
}

Result<std::unique_ptr<trace::ByteSink>> create_sink(const std::string& path) {
  return FileSink::create(path);
}

Result<trace::Writer> create_trace(const std::string& path) {
  SJ_TRY(sink, create_sink(path));
  return trace::Writer::create(std::move(sink));
}

}  // namespace sojourn::files
