#include "userspace/files/kept_stream.h"

#include <algorithm>
#include <cerrno>
#include <utility>

#include <unistd.h>

#include "userspace/base/fail_errno.h"

namespace sojourn::files {

namespace {

using std::chrono::milliseconds;

constexpr std::chrono::seconds kFirstPatience(5);
constexpr std::chrono::seconds kGiveUpAfter(30);
constexpr std::chrono::seconds kGoneAfter(5);  // if no program listens on this machine any more
constexpr milliseconds kBetweenTries(500);

}  // namespace

Result<KeptStream> KeptStream::open(const std::string& name, int file) {
  SJ_TRY(address, parse_stream_address(name));
  SJ_TRY(connection, StreamConnection::open(address, kFirstPatience));
  return KeptStream(std::move(address), std::move(connection), file);
}

Result<void> KeptStream::take(std::uint64_t most_bytes, milliseconds patience) {
  if (is_complete_) return {};
  if (!connection_) try_again(patience);
  for (std::uint64_t taken = 0; connection_ && taken < most_bytes;) {
    auto got = connection_->receive(piece_);
    if (!got && is_first_part()) return std::unexpected(std::move(got).error());
    if (!got) {
      give_up(got.error().text());
      break;
    }
    if (*got == 0 && connection_->is_open()) break;
    if (*got == 0) {
      end_part();
      break;
    }
    taken += *got;
    SJ_CHECK(keep(std::span(piece_).first(*got)));
    follow(std::span(piece_).first(*got));
  }
  return {};
}

Result<void> KeptStream::keep(std::span<const std::uint8_t> bytes) {
  while (!bytes.empty()) {
    const ssize_t written = pwrite(file_, bytes.data(), bytes.size(), static_cast<off_t>(end_));
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) return fail_errno("keep {} in a temporary file", address_.text());
    bytes = bytes.subspan(static_cast<std::size_t>(written));
    end_ += static_cast<std::uint64_t>(written);
  }
  return {};
}

void KeptStream::follow(std::span<const std::uint8_t> bytes) {
  framing_.add(bytes);
  if (is_first_part()) {
    capture_ = framing_.capture();
  } else if (!framing_.is_trace() ||
             (!framing_.capture().empty() && framing_.capture() != capture_)) {
    framing_ = trace::Framing();  // nothing of it is kept
    give_up("another capture answers there now");
  }
}

std::uint64_t KeptStream::size() const {
  if (is_complete_ || (is_first_part() && !framing_.is_trace())) return end_;
  const bool is_known = is_first_part() || !framing_.capture().empty();
  return part_begin_ + (is_known ? framing_.whole_bytes() : 0);
}

// The connection has ended. If the capture has not, the next part begins behind the last whole
// block.
void KeptStream::end_part() {
  connection_.reset();
  if (capture_.empty() || framing_.has_ended()) {
    is_complete_ = true;
    return;
  }
  end_ = size();
  part_begin_ = end_;
  framing_ = trace::Framing();
  broken_since_ = Clock::now();
  next_try_ = broken_since_;
  news_ = fmt::format("{}: the connection broke before the capture ended; trying again",
                      address_.text());
}

void KeptStream::try_again(milliseconds patience) {
  if (Clock::now() < next_try_) return;
  auto connected = StreamConnection::open(address_, patience);
  if (connected) {
    connection_ = std::move(*connected);
    news_ = fmt::format("{}: connected again", address_.text());
    return;
  }
  next_try_ = Clock::now() + kBetweenTries;
  // Either the recorder has ended, or a program that forwards its port is being restarted.
  const bool is_nobody = connected.error().kind() == ErrorKind::kNoAnswer && !address_.is_tls;
  if (next_try_ >= broken_since_ + (is_nobody ? kGoneAfter : kGiveUpAfter))
    give_up(connected.error().text());
}

void KeptStream::give_up(const std::string& why) {
  end_ = size();
  connection_.reset();
  is_complete_ = true;
  news_ = fmt::format("{}; the trace ends here", why);
}

std::optional<pollfd> KeptStream::awaited() const {
  if (!connection_) return std::nullopt;
  return pollfd{.fd = connection_->fd(), .events = connection_->awaited(), .revents = 0};
}

milliseconds KeptStream::until_next_try() const {
  return std::max(std::chrono::ceil<milliseconds>(next_try_ - Clock::now()), milliseconds(0));
}

}  // namespace sojourn::files
