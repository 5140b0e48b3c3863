#include "userspace/live/growing_stream.h"

#include <array>
#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

#include "userspace/base/fail_errno.h"
#include "userspace/base/fd.h"
#include "userspace/files/stream_address.h"
#include "userspace/live/growing_file.h"

namespace sojourn::live_view {

namespace {

// Taken in at once at most. The rest waits in the socket: the recorder drops blocks for a reader
// that does not keep up, and says so in the trace.
constexpr std::uint64_t kMaxAhead = std::uint64_t{64} << 20;

class GrowingStream : public trace::ByteSource {
 public:
  GrowingStream(base::Fd connection, int memory, std::unique_ptr<trace::ByteSource> kept)
      : connection_(std::move(connection)), memory_(memory), kept_(std::move(kept)) {}

  const std::string& name() const override { return kept_->name(); }

  std::uint64_t size() const override {
    take_in();
    return size_;
  }

  bool read_at(std::uint64_t offset, std::span<std::uint8_t> into) override {
    return kept_->read_at(offset, into);
  }

 private:
  // Where the connection or memory fails, the trace ends here, as one that was cut.
  void take_in() const {
    std::array<std::uint8_t, std::size_t{64} << 10> piece;
    for (const std::uint64_t end = size_ + kMaxAhead; size_ < end && is_open_;) {
      const ssize_t got = recv(connection_.get(), piece.data(), piece.size(), MSG_DONTWAIT);
      if (got < 0 && errno == EINTR) continue;
      if (got < 0 && errno == EAGAIN) return;
      is_open_ = got > 0 && keep(std::span(piece).first(static_cast<std::size_t>(got)));
    }
  }

  bool keep(std::span<const std::uint8_t> bytes) const {
    while (!bytes.empty()) {
      const ssize_t written =
          pwrite(memory_, bytes.data(), bytes.size(), static_cast<off_t>(size_));
      if (written < 0 && errno == EINTR) continue;
      if (written <= 0) return false;
      bytes = bytes.subspan(static_cast<std::size_t>(written));
      size_ += static_cast<std::uint64_t>(written);
    }
    return true;
  }

  base::Fd connection_;
  int memory_;  // owned by `kept_`
  std::unique_ptr<trace::ByteSource> kept_;
  mutable std::uint64_t size_ = 0;
  mutable bool is_open_ = true;
};

}  // namespace

Result<std::unique_ptr<trace::ByteSource>> open_growing_stream(const std::string& name) {
  SJ_TRY(address, files::parse_stream_address(name));
  SJ_TRY(connection, files::connect_to(address));
  base::Fd memory(memfd_create("sojourn-stream", MFD_CLOEXEC));
  if (!memory) return fail_errno("keep {} in memory", name);
  const int fd = memory.get();
  return std::make_unique<GrowingStream>(
      std::move(connection), fd, growing_source(name, std::move(memory), AfterReading::kFree));
}

}  // namespace sojourn::live_view
