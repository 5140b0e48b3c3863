#include "userspace/live/unnamed_trace.h"

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <tuple>
#include <utility>

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "analysis/trace/format.h"
#include "userspace/base/fail_errno.h"
#include "userspace/live/growing_file.h"

namespace sojourn::live_view {

namespace {

class UnnamedSink : public trace::ByteSink {
 public:
  UnnamedSink(int fd, std::uint64_t max_bytes, pid_t reader)
      : fd_(fd), max_bytes_(max_bytes), reader_(reader) {}

  Result<void> append(std::span<const std::uint8_t> bytes) override {
    if (getppid() != reader_) return fail("the view of this capture has ended");
    if (is_events(bytes) && is_full()) return {};
    std::span<const std::uint8_t> rest = bytes;
    while (!rest.empty()) {
      const ssize_t written = pwrite(fd_, rest.data(), rest.size(),
                                     static_cast<off_t>(size_ + bytes.size() - rest.size()));
      if (written < 0 && errno == EINTR) continue;
      if (written < 0) return none_of_it(fail_errno("write the trace, which has {} bytes", size_));
      rest = rest.subspan(static_cast<std::size_t>(written));
    }
    size_ += bytes.size();
    return {};
  }
  std::uint64_t size() const override { return size_; }
  Result<void> finish() override { return {}; }
  void abandon() override {}
  const std::string& put_aside() const override { return none_; }

 private:
  Result<void> none_of_it(std::unexpected<Error> problem) {
    std::ignore = ftruncate(fd_, static_cast<off_t>(size_));
    return problem;
  }
  static bool is_events(std::span<const std::uint8_t> bytes) {
    trace::BlockHeader header;
    if (bytes.size() < sizeof(header)) return false;
    std::memcpy(&header, bytes.data(), sizeof(header));
    return header.magic == trace::kBlockMagic && header.type == trace::BlockType::kEvents;
  }
  // Counts the memory that the reader has not given back.
  bool is_full() const {
    if (max_bytes_ == UINT64_MAX) return false;
    constexpr std::uint64_t kBlockBytes = 512;  // of st_blocks, everywhere
    struct stat file{};
    return fstat(fd_, &file) == 0 &&
           static_cast<std::uint64_t>(file.st_blocks) * kBlockBytes > max_bytes_;
  }

  int fd_;
  std::uint64_t max_bytes_;
  pid_t reader_;
  std::uint64_t size_ = 0;
  std::string none_;
};

}  // namespace

Result<UnnamedTrace> UnnamedTrace::in_memory(std::uint64_t max_bytes) {
  base::Fd fd(memfd_create("sojourn-live", MFD_CLOEXEC));
  if (!fd) return fail_errno("get memory for the trace");
  return UnnamedTrace(std::move(fd), max_bytes);
}

Result<UnnamedTrace> UnnamedTrace::on_disk() {
  const char* const wanted = std::getenv("TMPDIR");
  const std::string directory = wanted == nullptr || *wanted == '\0' ? "/var/tmp" : wanted;
  base::Fd fd(open(directory.c_str(), O_TMPFILE | O_RDWR | O_CLOEXEC, S_IRUSR | S_IWUSR));
  if (!fd) return fail_errno("make a file without a name in {}, for the trace", directory);
  return UnnamedTrace(std::move(fd), UINT64_MAX);
}

std::unique_ptr<trace::ByteSink> UnnamedTrace::sink(pid_t reader) const {
  return std::make_unique<UnnamedSink>(fd_.get(), max_bytes_, reader);
}

Result<base::Fd> UnnamedTrace::file() const {
  base::Fd own(fcntl(fd_.get(), F_DUPFD_CLOEXEC, 0));
  if (!own) return fail_errno("read the trace");
  return own;
}

Result<std::unique_ptr<trace::ByteSource>> UnnamedTrace::source(std::string name) const {
  SJ_TRY(own, file());
  return growing_source(std::move(name), std::move(own),
                        max_bytes_ == UINT64_MAX ? AfterReading::kKeep : AfterReading::kFree);
}

}  // namespace sojourn::live_view
