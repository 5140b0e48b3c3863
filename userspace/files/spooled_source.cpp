#include "userspace/files/spooled_source.h"

#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdint>
#include <cstdio>
#include <optional>
#include <utility>
#include <vector>

#include <poll.h>
#include <unistd.h>

#include "userspace/base/fail_errno.h"
#include "userspace/base/fd.h"
#include "userspace/files/file_source.h"
#include "userspace/files/kept_stream.h"
#include "userspace/files/nameless_file.h"

namespace sojourn::files {

namespace {

constexpr std::size_t kPiece = std::size_t{256} << 10;
constexpr std::uint64_t kTurn = std::uint64_t{4} << 20;
constexpr std::chrono::seconds kPatience(5);
constexpr const char* kStandardInput = "standard input";

volatile std::sig_atomic_t g_is_interrupted = 0;

// While this object exists, an interrupt (Ctrl-C) ends the reading instead of the program. The
// signal is delivered only inside of wait_for(), so that none is missed.
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

  // Returns false after an interrupt. Without `wanted` it waits for the interrupt alone.
  bool wait_for(std::optional<pollfd> wanted, std::optional<std::chrono::milliseconds> most) const {
    const timespec limit = {.tv_sec = most ? most->count() / 1000 : 0,
                            .tv_nsec = most ? most->count() % 1000 * 1'000'000 : 0};
    while (g_is_interrupted == 0)
      if (ppoll(wanted ? &*wanted : nullptr, wanted ? 1 : 0, most ? &limit : nullptr, &waiting_) >=
          0)
        return true;
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

Result<std::uint64_t> copy_standard_input(int to) {
  const Interrupts interrupts;
  std::vector<std::uint8_t> piece(kPiece);
  std::uint64_t size = 0;
  const pollfd wanted{.fd = STDIN_FILENO, .events = POLLIN, .revents = 0};
  while (interrupts.wait_for(wanted, std::nullopt)) {
    const ssize_t got = read(STDIN_FILENO, piece.data(), piece.size());
    if (got < 0 && (errno == EINTR || errno == EAGAIN)) continue;
    // The part before the connection was cut is a trace as well.
    if (got < 0 && errno == ECONNRESET && size != 0) break;
    if (got < 0) return fail_errno("read {}", kStandardInput);
    if (got == 0) break;
    SJ_CHECK(write_all(to, piece.data(), static_cast<std::size_t>(got), kStandardInput));
    size += static_cast<std::uint64_t>(got);
  }
  return size;
}

Result<std::uint64_t> copy_stream(const std::string& name, int to) {
  SJ_TRY(stream, KeptStream::open(name, to));
  const Interrupts interrupts;
  while (!stream.is_complete()) {
    const auto awaited = stream.awaited();
    if (!interrupts.wait_for(awaited,
                             awaited ? std::nullopt : std::optional(stream.until_next_try())))
      break;
    SJ_CHECK(stream.take(kTurn, kPatience));
    if (const std::string news = stream.take_news(); !news.empty()) {
      const std::string line = "sojourn: " + news + "\n";
      std::fwrite(line.data(), 1, line.size(), stderr);
    }
  }
  if (stream.is_complete() && stream.size() == 0)
    return fail("{}: the connection was closed before anything came: too many readers?", name);
  return stream.size();
}

}  // namespace

Result<std::unique_ptr<trace::ByteSource>> open_spooled(const std::string& name) {
  const bool is_input = name == "-";
  SJ_TRY(spool, nameless_file());
  SJ_TRY(size, is_input ? copy_standard_input(spool.get()) : copy_stream(name, spool.get()));
  return std::make_unique<FileSource>(is_input ? kStandardInput : name, std::move(spool), size);
}

}  // namespace sojourn::files
