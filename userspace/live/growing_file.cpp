#include "userspace/live/growing_file.h"

#include <cerrno>
#include <utility>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "userspace/base/fail_errno.h"
#include "userspace/files/trace_file.h"

namespace sojourn::live_view {

namespace {

class GrowingFile : public trace::ByteSource {
 public:
  GrowingFile(std::string name, base::Fd fd, AfterReading after)
      : name_(std::move(name)), fd_(std::move(fd)), after_(after) {}

  const std::string& name() const override { return name_; }

  std::uint64_t size() const override {
    struct stat file{};
    return fstat(fd_.get(), &file) == 0 && file.st_size > 0
               ? static_cast<std::uint64_t>(file.st_size)
               : 0;
  }

  bool read_at(std::uint64_t offset, std::span<std::uint8_t> into) override {
    if (after_ == AfterReading::kFree) free_before(offset);
    while (!into.empty()) {
      const ssize_t got = pread(fd_.get(), into.data(), into.size(), static_cast<off_t>(offset));
      if (got < 0 && errno == EINTR) continue;
      if (got <= 0) return false;
      into = into.subspan(static_cast<std::size_t>(got));
      offset += static_cast<std::uint64_t>(got);
    }
    return true;
  }

 protected:
  int descriptor() const { return fd_.get(); }

 private:
  // A follower reads forward only, so the memory before `offset` can be given back.
  void free_before(std::uint64_t offset) {
    constexpr std::uint64_t kStep = 1u << 20;
    const std::uint64_t end = offset - offset % kStep;
    if (end <= freed_) return;
    if (fallocate(fd_.get(), FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, static_cast<off_t>(freed_),
                  static_cast<off_t>(end - freed_)) == 0)
      freed_ = end;
  }

  std::string name_;
  base::Fd fd_;
  AfterReading after_;
  std::uint64_t freed_ = 0;
};

// A file that is over once it was left alone for a while.
class FileInWriting final : public GrowingFile {
 public:
  FileInWriting(std::string name, base::Fd fd, std::chrono::milliseconds patience)
      : GrowingFile(std::move(name), std::move(fd), AfterReading::kKeep), patience_(patience) {}

  // A file that was over stays so: readers have ended it.
  bool is_over() const override {
    const Clock::time_point now = Clock::now();
    const std::uint64_t size_now = size();
    if (std::exchange(size_, size_now) != size_now) since_ = now;
    if (is_over_ || now - since_ < patience_) return is_over_;
    is_over_ = !files::has_writer(descriptor());
    since_ = now;  // to ask again
    return is_over_;
  }

 private:
  using Clock = std::chrono::steady_clock;

  std::chrono::milliseconds patience_;
  mutable std::uint64_t size_ = 0;
  mutable Clock::time_point since_ = Clock::now();  // the size, or the last look for a writer
  mutable bool is_over_ = false;
};

}  // namespace

std::unique_ptr<trace::ByteSource> growing_source(std::string name, base::Fd fd,
                                                  AfterReading after) {
  return std::make_unique<GrowingFile>(std::move(name), std::move(fd), after);
}

Result<std::unique_ptr<trace::ByteSource>> open_growing(const std::string& path,
                                                        std::chrono::milliseconds patience) {
  base::Fd fd(open(path.c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC));
  if (!fd) return fail_errno("open {}", path);
  struct stat file{};
  if (fstat(fd.get(), &file) != 0) return fail_errno("open {}", path);
  if (!S_ISREG(file.st_mode)) return fail("open {}: not a regular file", path);
  return std::make_unique<FileInWriting>(path, std::move(fd), patience);
}

}  // namespace sojourn::live_view
