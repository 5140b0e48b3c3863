#include "userspace/live/growing_stream.h"

#include <chrono>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include <poll.h>
#include <sys/mman.h>
#include <unistd.h>

#include "userspace/base/fail_errno.h"
#include "userspace/base/fd.h"
#include "userspace/files/kept_stream.h"
#include "userspace/live/growing_file.h"

namespace sojourn::live_view {

namespace {

// The limit of bytes that were read ahead. The rest waits in the socket: the recorder drops blocks
// for a reader that does not keep up, and says so in the trace.
constexpr std::uint64_t kMaxAhead = std::uint64_t{64} << 20;

// The view cannot react during an attempt to connect, so the attempt is short.
constexpr std::chrono::milliseconds kPatience(500);

class GrowingStream : public trace::ByteSource {
 public:
  GrowingStream(files::KeptStream stream, std::unique_ptr<trace::ByteSource> kept)
      : kept_(std::move(kept)), stream_(std::move(stream)) {}

  const std::string& name() const override { return kept_->name(); }

  // If the recorder refuses, or memory fails, the trace ends here as if it was cut.
  std::uint64_t size() const override {
    if (is_open_) is_open_ = stream_.take(kMaxAhead, kPatience).has_value();
    return stream_.size();
  }

  bool read_at(std::uint64_t offset, std::span<std::uint8_t> into) override {
    return kept_->read_at(offset, into);
  }

  bool is_over() const override { return !is_open_ || stream_.is_complete(); }

 private:
  std::unique_ptr<trace::ByteSource> kept_;  // owns the memory
  mutable files::KeptStream stream_;
  mutable bool is_open_ = true;
};

// Reads standard input, as far as that does not block.
class GrowingInput : public trace::ByteSource {
 public:
  GrowingInput(std::unique_ptr<trace::ByteSource> kept, int memory)
      : kept_(std::move(kept)), memory_(memory) {}

  const std::string& name() const override { return kept_->name(); }

  std::uint64_t size() const override {
    for (const std::uint64_t end = size_ + kMaxAhead; is_open_ && size_ < end;) {
      pollfd wanted{.fd = STDIN_FILENO, .events = POLLIN, .revents = 0};
      if (poll(&wanted, 1, 0) != 1) break;
      const ssize_t got = read(STDIN_FILENO, piece_.data(), piece_.size());
      is_open_ = got > 0 && pwrite(memory_, piece_.data(), static_cast<std::size_t>(got),
                                   static_cast<off_t>(size_)) == got;
      if (is_open_) size_ += static_cast<std::uint64_t>(got);
    }
    return size_;
  }

  bool read_at(std::uint64_t offset, std::span<std::uint8_t> into) override {
    return kept_->read_at(offset, into);
  }

  bool is_over() const override { return !is_open_; }

 private:
  std::unique_ptr<trace::ByteSource> kept_;
  int memory_;  // owned by `kept_`
  mutable std::vector<std::uint8_t> piece_ = std::vector<std::uint8_t>(std::size_t{64} << 10);
  mutable std::uint64_t size_ = 0;
  mutable bool is_open_ = true;
};

}  // namespace

Result<std::unique_ptr<trace::ByteSource>> open_growing_stream(const std::string& name) {
  base::Fd memory(memfd_create("sojourn-stream", MFD_CLOEXEC));
  if (!memory) return fail_errno("keep {} in memory", name);
  if (name == "-") {
    const int fd = memory.get();
    return std::make_unique<GrowingInput>(
        growing_source("standard input", std::move(memory), AfterReading::kFree), fd);
  }
  SJ_TRY(stream, files::KeptStream::open(name, memory.get()));
  return std::make_unique<GrowingStream>(
      std::move(stream), growing_source(name, std::move(memory), AfterReading::kFree));
}

}  // namespace sojourn::live_view
