#include "userspace/files/spooled_source.h"

#include <cerrno>
#include <csignal>
#include <cstdint>
#include <utility>
#include <vector>

#include <poll.h>
#include <unistd.h>

#include "userspace/base/fail_errno.h"
#include "userspace/base/fd.h"
#include "userspace/files/file_source.h"
#include "userspace/files/nameless_file.h"
#include "userspace/files/stream_address.h"

namespace sojourn::files {

namespace {

constexpr std::size_t kPiece = std::size_t{256} << 10;

volatile std::sig_atomic_t g_is_interrupted = 0;

// While it lives, an interrupt ends the reading and not the program. It comes through only while
// somebody waits, so none is missed.
class Interrupts {
 public:
  Interrupts() {
    g_is_interrupted = 0;
    struct sigaction action{};
    action.sa_handler = [](int) { g_is_interrupted = 1; };
    sigaction(SIGINT, &action, &before_);
    sigset_t interrupt;
    sigemptyset(&interrupt);
    sigaddset(&interrupt, SIGINT);
    pthread_sigmask(SIG_BLOCK, &interrupt, &mask_before_);
    waiting_ = mask_before_;
    sigdelset(&waiting_, SIGINT);
  }
  Interrupts(const Interrupts&) = delete;
  Interrupts& operator=(const Interrupts&) = delete;
  ~Interrupts() {
    pthread_sigmask(SIG_SETMASK, &mask_before_, nullptr);
    sigaction(SIGINT, &before_, nullptr);
  }

  // False: interrupted.
  bool wait_for(int fd) const {
    pollfd wanted{.fd = fd, .events = POLLIN, .revents = 0};
    while (g_is_interrupted == 0)
      if (ppoll(&wanted, 1, nullptr, &waiting_) > 0) return true;
    return false;
  }

 private:
  struct sigaction before_{};
  sigset_t mask_before_{};
  sigset_t waiting_{};
};

Result<void> write_all(int fd, const std::uint8_t* bytes, std::size_t count,
                       const std::string& name) {
  while (count != 0) {
    const ssize_t written = write(fd, bytes, count);
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) return fail_errno("keep {} in a temporary file", name);
    bytes += written;
    count -= static_cast<std::size_t>(written);
  }
  return {};
}

Result<std::uint64_t> copy_to_end(int from, int to, const std::string& name) {
  const Interrupts interrupts;
  std::vector<std::uint8_t> piece(kPiece);
  std::uint64_t size = 0;
  while (interrupts.wait_for(from)) {
    const ssize_t got = read(from, piece.data(), piece.size());
    if (got < 0 && (errno == EINTR || errno == EAGAIN)) continue;
    // The part before the connection was cut is a trace as well.
    if (got < 0 && errno == ECONNRESET && size != 0) break;
    if (got < 0) return fail_errno("read {}", name);
    if (got == 0) break;
    SJ_CHECK(write_all(to, piece.data(), static_cast<std::size_t>(got), name));
    size += static_cast<std::uint64_t>(got);
  }
  return size;
}

}  // namespace

Result<std::unique_ptr<trace::ByteSource>> open_spooled(const std::string& name) {
  base::Fd connection;
  if (name != "-") {
    SJ_TRY(address, parse_stream_address(name));
    SJ_TRY(connected, connect_to(address));
    connection = std::move(connected);
  }
  SJ_TRY(spool, nameless_file());
  SJ_TRY(size, copy_to_end(connection ? connection.get() : STDIN_FILENO, spool.get(), name));
  return std::make_unique<FileSource>(name == "-" ? "standard input" : name, std::move(spool),
                                      size);
}

}  // namespace sojourn::files
