#include "userspace/files/stream_connection.h"

#include <algorithm>
#include <cerrno>
#include <string_view>
#include <utility>

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>

#include "analysis/base/printable.h"
#include "userspace/files/stream_access.h"

namespace sojourn::files {

namespace {

using std::chrono::milliseconds;

constexpr std::size_t kMaxRefusalBytes = 256;

// Detects within some ten seconds that a recorder has vanished.
void keep_alive(int fd) {
  const auto set = [fd](int level, int option, int value) {
    setsockopt(fd, level, option, &value, sizeof(value));
  };
  set(SOL_SOCKET, SO_KEEPALIVE, 1);
  set(IPPROTO_TCP, TCP_KEEPIDLE, 4);
  set(IPPROTO_TCP, TCP_KEEPINTVL, 2);
  set(IPPROTO_TCP, TCP_KEEPCNT, 3);
}

bool wait_for(int fd, short events, milliseconds patience) {
  pollfd wanted{.fd = fd, .events = events, .revents = 0};
  return poll(&wanted, 1, static_cast<int>(patience.count())) > 0;
}

// Repeats a step of TLS until it is done.
template <typename Step>
Result<void> complete(int fd, tls::Session& session, const StreamAddress& address,
                      milliseconds patience, Step step) {
  for (;;) {
    switch (step()) {
      case tls::Step::kDone:
        return {};
      case tls::Step::kClosed:
        return fail("{}: {}", address.text(),
                    session.failure().empty() ? "the connection was closed" : session.failure());
      case tls::Step::kRead:
        if (!wait_for(fd, POLLIN, patience)) return fail("{}: no answer", address.text());
        break;
      case tls::Step::kWrite:
        if (!wait_for(fd, POLLOUT, patience)) return fail("{}: no answer", address.text());
        break;
    }
  }
}

}  // namespace

Result<StreamConnection> StreamConnection::open(const StreamAddress& address,
                                                milliseconds patience) {
  StreamAccess access;
  if (address.is_tls) {
    SJ_TRY(known, access_of_environment());
    access = std::move(known);
  }
  SJ_TRY(fd, connect_to(address, patience));
  if (!address.is_unix()) keep_alive(fd.get());
  StreamConnection connection(std::move(fd));
  connection.name_ = address.text();
  if (address.is_tls) SJ_CHECK(connection.begin_tls(address, access, patience));
  return connection;
}

Result<void> StreamConnection::begin_tls(const StreamAddress& address, const StreamAccess& access,
                                         milliseconds patience) {
  SJ_TRY(context, tls::Context::for_client(access.authorities));
  SJ_TRY(session, context.connect(fd(), address.host));
  tls_ = std::move(session);
  SJ_CHECK(complete(fd(), *tls_, address, patience, [this] { return tls_->handshake(); }));
  const std::string line = access.token + "\n";
  const std::span bytes(reinterpret_cast<const std::uint8_t*>(line.data()), line.size());
  return complete(fd(), *tls_, address, patience, [&] {
    std::size_t written = 0;  // one record: all of it or nothing
    return tls_->write(bytes, written);
  });
}

Result<std::size_t> StreamConnection::receive(std::span<std::uint8_t> into) {
  const std::size_t got = tls_ ? receive_tls(into) : receive_plain(into);
  if (!has_begun_) SJ_CHECK(check_for_refusal(into.first(got)));
  return got;
}

std::size_t StreamConnection::receive_plain(std::span<std::uint8_t> into) {
  awaited_ = POLLIN;
  for (;;) {
    const ssize_t got = recv(fd(), into.data(), into.size(), MSG_DONTWAIT);
    if (got > 0) return static_cast<std::size_t>(got);
    if (got < 0 && errno == EINTR) continue;
    if (got == 0 || errno != EAGAIN) is_open_ = false;
    return 0;
  }
}

std::size_t StreamConnection::receive_tls(std::span<std::uint8_t> into) {
  std::size_t got = 0;
  switch (tls_->read(into, got)) {
    case tls::Step::kDone:
      return got;
    case tls::Step::kRead:
      awaited_ = POLLIN;
      return 0;
    case tls::Step::kWrite:
      awaited_ = POLLOUT;
      return 0;
    case tls::Step::kClosed:
      is_open_ = false;
      return 0;
  }
  return 0;
}

// Fails if the first bytes are a refusal in words. Otherwise the caller checks whether they are a
// trace.
Result<void> StreamConnection::check_for_refusal(std::span<const std::uint8_t> bytes) {
  const std::size_t kept = std::min(bytes.size(), kMaxRefusalBytes - begin_.size());
  begin_.append(reinterpret_cast<const char*>(bytes.data()), kept);
  const std::string_view begin = begin_;
  has_begun_ = !kRefusal.starts_with(begin.substr(0, kRefusal.size()));
  const bool is_whole = begin.contains('\n') || !is_open_ || begin.size() == kMaxRefusalBytes;
  if (has_begun_ || begin.size() <= kRefusal.size() || !is_whole) return {};
  return fail(
      "{}: {}", name_,
      printable(std::string(begin.substr(kRefusal.size(), begin.find('\n') - kRefusal.size()))));
}

}  // namespace sojourn::files
