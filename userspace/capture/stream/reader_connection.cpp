#include "userspace/capture/stream/reader_connection.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/uio.h>

#include "userspace/base/clock.h"
#include "userspace/files/stream_access.h"
#include "userspace/files/stream_connection.h"

namespace sojourn::capture {

namespace {

constexpr std::size_t kChunksAtOnce = 32;
// A reader gets at most this before the next one has its turn.
constexpr std::size_t kTurnBytes = std::size_t{1} << 20;
constexpr std::size_t kMaxReceived = std::size_t{64} << 10;
constexpr std::uint64_t kMaxEntryNs = 10'000'000'000;  // the timeout for TLS and the token

}  // namespace

ReaderConnection::ReaderConnection(base::Fd fd, Guard guard, BlockFeed& feed, BlockFeed::Wake wake)
    : feed_(&feed),
      wake_(std::move(wake)),
      fd_(std::move(fd)),
      guard_(std::move(guard)),
      state_(State::kConnecting),
      is_plain_(!guard_.session),
      since_ns_(base::monotonic_ns()),
      progress_ns_(since_ns_) {}

ReaderConnection::~ReaderConnection() {
  if (reader_) feed_->leave(reader_);
}

std::uint32_t ReaderConnection::awaited() const {
  if (state_ == State::kConnecting) return EPOLLOUT;
  if (state_ != State::kReading) return wants_to_write_ ? EPOLLOUT : EPOLLIN;
  return (has_shut_down_ ? 0U : std::uint32_t{EPOLLIN}) |
         (is_blocked_ ? std::uint32_t{EPOLLOUT} : 0U);
}

bool ReaderConnection::is_late(std::uint64_t now_ns) const {
  return !is_reader() && now_ns - since_ns_ > kMaxEntryNs;
}

bool ReaderConnection::receive(std::uint32_t events) {
  if ((events & EPOLLOUT) != 0) is_blocked_ = false;
  if (state_ != State::kReading) return advance();
  if ((events & (EPOLLERR | EPOLLHUP)) != 0) return false;
  return (events & EPOLLIN) == 0 || discard_input();
}

// Goes on with the connection's setup as far as it can now, up to becoming a reader.
bool ReaderConnection::advance() {
  if (state_ == State::kConnecting) {
    int error = 0;
    socklen_t bytes = sizeof(error);
    getsockopt(fd(), SOL_SOCKET, SO_ERROR, &error, &bytes);
    if (error != 0) {
      failure_ = std::strerror(error);
      return false;
    }
    if (is_plain_) return become_reader();
    state_ = State::kHandshake;
  }
  if (state_ == State::kHandshake && !shake_hands()) return false;
  return state_ != State::kToken || take_token();
}

// Notes whether the step waits to read or to write. Returns false if it failed.
bool ReaderConnection::take_step(tls::Step step) {
  wants_to_write_ = step == tls::Step::kWrite;
  if (step != tls::Step::kClosed) return true;
  failure_ = guard_.session->failure();
  return false;
}

bool ReaderConnection::shake_hands() {
  const tls::Step step = guard_.session->handshake();
  if (step == tls::Step::kDone) state_ = State::kToken;
  return take_step(step);
}

bool ReaderConnection::take_token() {
  for (;;) {
    std::uint8_t letter = 0;
    std::size_t got = 0;
    const tls::Step step = guard_.session->read({&letter, 1}, got);
    if (step != tls::Step::kDone) return take_step(step);
    if (letter == '\n') break;
    line_ += static_cast<char>(letter);
    if (line_.size() > files::kMaxTokenBytes + 1) return refuse("the token is wrong");
  }
  if (line_.ends_with('\r')) line_.pop_back();
  return tls::is_same_secret(line_, guard_.token) ? become_reader() : refuse("the token is wrong");
}

bool ReaderConnection::refuse(std::string why) {
  const std::string words = std::string(files::kRefusal) + why + "\n";
  std::size_t written = 0;
  std::ignore = guard_.session->write(
      {reinterpret_cast<const std::uint8_t*>(words.data()), words.size()}, written);
  failure_ = std::move(why);
  return false;
}

bool ReaderConnection::become_reader() {
  state_ = State::kReading;
  progress_ns_ = base::monotonic_ns();
  reader_ = feed_->join(wake_, guard_.kind);
  if (!reader_) failure_ = "there are too many readers";
  return is_reader();
}

// Returns false if the peer sends too much, or is gone. A peer that only shuts down its sending
// side may go on reading.
bool ReaderConnection::discard_input() {
  std::array<std::uint8_t, 4096> rubbish{};
  for (;;) {
    std::size_t got = 0;
    bool has_ended = false;
    if (is_plain_) {
      const ssize_t count = recv(fd(), rubbish.data(), rubbish.size(), 0);
      if (count < 0) return errno == EAGAIN || errno == EINTR;
      got = static_cast<std::size_t>(count);
      has_ended = got == 0;
    } else {
      const tls::Step step = guard_.session->read(rubbish, got);
      if (step == tls::Step::kRead || step == tls::Step::kWrite) return true;
      if (step == tls::Step::kClosed && !guard_.session->failure().empty()) return false;
      has_ended = step == tls::Step::kClosed;
    }
    if (has_ended) {
      has_shut_down_ = true;
      return true;
    }
    received_ += got;
    if (received_ > kMaxReceived) return false;
  }
}

bool ReaderConnection::send(bool& has_more) {
  has_more = false;
  if (!reader_ || is_blocked_) return true;
  for (std::size_t turn = 0; turn < kTurnBytes;) {
    const auto chunks = feed_->waiting(*reader_, kChunksAtOnce);
    if (chunks.empty()) return true;
    const auto sent = send_some(chunks);
    if (!sent || *sent == 0) {
      feed_->consume(*reader_, 0);
      is_blocked_ = sent.has_value();
      return is_blocked_;
    }
    turn += *sent;
    progress_ns_ = base::monotonic_ns();
    sent_of_first_ += *sent;
    std::size_t whole = 0;
    while (whole < chunks.size() && sent_of_first_ >= chunks[whole]->size())
      sent_of_first_ -= chunks[whole++]->size();
    feed_->consume(*reader_, whole);
  }
  has_more = true;
  return true;
}

std::optional<std::size_t> ReaderConnection::send_some(std::span<const BlockFeed::Chunk> chunks) {
  if (is_plain_) return send_plain(chunks);
  std::size_t sent = 0;
  const tls::Step step =
      guard_.session->write(std::span(*chunks.front()).subspan(sent_of_first_), sent);
  if (step == tls::Step::kClosed) return std::nullopt;
  return sent;
}

std::optional<std::size_t> ReaderConnection::send_plain(std::span<const BlockFeed::Chunk> chunks) {
  std::array<iovec, kChunksAtOnce> parts{};
  for (std::size_t index = 0; index < chunks.size(); ++index)
    parts[index] = {.iov_base = const_cast<std::uint8_t*>(chunks[index]->data()),
                    .iov_len = chunks[index]->size()};
  parts[0] = {.iov_base = const_cast<std::uint8_t*>(chunks[0]->data()) + sent_of_first_,
              .iov_len = chunks[0]->size() - sent_of_first_};
  msghdr message{};
  message.msg_iov = parts.data();
  message.msg_iovlen = chunks.size();
  for (;;) {
    const ssize_t sent = sendmsg(fd(), &message, MSG_NOSIGNAL | MSG_DONTWAIT);
    if (sent >= 0) return static_cast<std::size_t>(sent);
    if (errno == EAGAIN) return 0;
    if (errno != EINTR) return std::nullopt;
  }
}

void ReaderConnection::say_goodbye() {
  if (guard_.session && is_reader()) guard_.session->say_goodbye();
  shutdown(fd(), SHUT_WR);
}

}  // namespace sojourn::capture
