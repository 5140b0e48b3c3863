#include "userspace/files/stream_address.h"

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstring>
#include <optional>

#include <arpa/inet.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "userspace/base/fail_errno.h"

namespace sojourn::files {

namespace {

constexpr std::string_view kTcp = "tcp://";
constexpr std::string_view kUnix = "unix:";
constexpr int kConnectMs = 5000;
constexpr int kBacklog = 128;

struct Endpoint {
  sockaddr_storage address{};
  socklen_t bytes = 0;

  const sockaddr* get() const { return reinterpret_cast<const sockaddr*>(&address); }
};

template <typename Address>
Endpoint endpoint_of(const Address& address) {
  Endpoint endpoint;
  static_assert(sizeof(address) <= sizeof(endpoint.address));
  std::memcpy(&endpoint.address, &address, sizeof(address));
  endpoint.bytes = sizeof(address);
  return endpoint;
}

std::optional<Endpoint> tcp_endpoint(const StreamAddress& address) {
  sockaddr_in four{};
  four.sin_family = AF_INET;
  four.sin_port = htons(address.port);
  if (inet_pton(AF_INET, address.host.c_str(), &four.sin_addr) == 1) return endpoint_of(four);
  sockaddr_in6 six{};
  six.sin6_family = AF_INET6;
  six.sin6_port = htons(address.port);
  if (inet_pton(AF_INET6, address.host.c_str(), &six.sin6_addr) == 1) return endpoint_of(six);
  return std::nullopt;
}

bool is_loopback(const Endpoint& endpoint) {
  if (endpoint.address.ss_family == AF_INET) {
    sockaddr_in four{};
    std::memcpy(&four, &endpoint.address, sizeof(four));
    return ntohl(four.sin_addr.s_addr) >> 24 == 127;
  }
  sockaddr_in6 six{};
  std::memcpy(&six, &endpoint.address, sizeof(six));
  return IN6_IS_ADDR_LOOPBACK(&six.sin6_addr) != 0;
}

Result<Endpoint> endpoint_for(const StreamAddress& address) {
  if (!address.is_unix()) {
    if (const auto endpoint = tcp_endpoint(address)) return *endpoint;
    return fail("{}: not an address", address.text());
  }
  sockaddr_un path{};
  path.sun_family = AF_UNIX;
  if (address.path.size() >= sizeof(path.sun_path))
    return fail("{}: the path of a unix socket has at most {} bytes", address.text(),
                sizeof(path.sun_path) - 1);
  std::ranges::copy(address.path, path.sun_path);
  return endpoint_of(path);
}

Result<base::Fd> socket_for(const Endpoint& endpoint, const StreamAddress& address) {
  base::Fd fd(socket(endpoint.address.ss_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));
  if (!fd) return fail_errno("make a socket for {}", address.text());
  return fd;
}

// A socket that a killed program left: nobody listens there any more.
Result<void> remove_abandoned(const Endpoint& endpoint, const StreamAddress& address) {
  struct stat status{};
  if (lstat(address.path.c_str(), &status) != 0) return {};
  if (!S_ISSOCK(status.st_mode))
    return fail("listen at {}: exists, and is no socket", address.text());
  SJ_TRY(trial, socket_for(endpoint, address));
  if (connect(trial.get(), endpoint.get(), endpoint.bytes) == 0 || errno != ECONNREFUSED)
    return fail("listen at {}: somebody listens there already", address.text());
  if (unlink(address.path.c_str()) != 0) return fail_errno("replace {}", address.text());
  return {};
}

Result<void> find_port(const base::Fd& fd, StreamAddress& address) {
  sockaddr_storage bound{};
  socklen_t bytes = sizeof(bound);
  if (getsockname(fd.get(), reinterpret_cast<sockaddr*>(&bound), &bytes) != 0)
    return fail_errno("listen at {}", address.text());
  sockaddr_in four{};  // the port is at the same place in both families
  std::memcpy(&four, &bound, sizeof(four));
  address.port = ntohs(four.sin_port);
  return {};
}

}  // namespace

std::string StreamAddress::text() const {
  if (is_unix()) return fmt::format("{}{}", kUnix, path);
  return host.contains(':') ? fmt::format("{}[{}]:{}", kTcp, host, port)
                            : fmt::format("{}{}:{}", kTcp, host, port);
}

bool is_stream(std::string_view name) {
  return name == "-" || name.starts_with(kTcp) || name.starts_with(kUnix);
}

Result<StreamAddress> parse_stream_address(std::string_view text) {
  std::string_view rest = text;
  StreamAddress address;
  if (rest.starts_with(kUnix)) {
    address.path = rest.substr(kUnix.size());
    if (address.path.empty()) return fail("\"{}\" names no path", text);
    return address;
  }
  if (rest.starts_with(kTcp)) rest.remove_prefix(kTcp.size());
  const auto colon = rest.rfind(':');
  const std::string_view digits = colon == std::string_view::npos ? "" : rest.substr(colon + 1);
  const auto [end, code] =
      std::from_chars(digits.data(), digits.data() + digits.size(), address.port);
  if (digits.empty() || code != std::errc() || end != digits.data() + digits.size())
    return fail("\"{}\" is neither an address with a port, such as 127.0.0.1:9000, nor unix:PATH",
                text);
  std::string_view host = rest.substr(0, colon);
  if (host.starts_with('[') && host.ends_with(']')) host = host.substr(1, host.size() - 2);
  address.host = host == "localhost" ? "127.0.0.1" : host;
  const auto endpoint = tcp_endpoint(address);
  if (!endpoint || !is_loopback(*endpoint))
    return fail(
        "\"{}\" is not of this machine: streams are not encrypted, so only loopback addresses and "
        "unix sockets are allowed; `ssh -L {}:127.0.0.1:{} HOST` makes another host's port one of "
        "this machine",
        text, address.port, address.port);
  return address;
}

Result<base::Fd> listen_at(StreamAddress& address) {
  SJ_TRY(endpoint, endpoint_for(address));
  if (address.is_unix()) SJ_CHECK(remove_abandoned(endpoint, address));
  SJ_TRY(fd, socket_for(endpoint, address));
  const int yes = 1;
  if (address.is_unix())
    fchmod(fd.get(), S_IRUSR | S_IWUSR);  // the file that bind() makes has these rights
  else
    setsockopt(fd.get(), SOL_SOCKET, SO_REUSEADDR, &yes, sizeof(yes));
  if (bind(fd.get(), endpoint.get(), endpoint.bytes) != 0 || listen(fd.get(), kBacklog) != 0)
    return fail_errno("listen at {}", address.text());
  if (!address.is_unix()) SJ_CHECK(find_port(fd, address));
  return std::move(fd);
}

Result<base::Fd> connect_to(const StreamAddress& address) {
  SJ_TRY(endpoint, endpoint_for(address));
  SJ_TRY(fd, socket_for(endpoint, address));
  if (connect(fd.get(), endpoint.get(), endpoint.bytes) == 0) return std::move(fd);
  if (errno != EINPROGRESS) return fail_errno("connect to {}", address.text());
  pollfd wanted{.fd = fd.get(), .events = POLLOUT, .revents = 0};
  if (poll(&wanted, 1, kConnectMs) <= 0) return fail("connect to {}: no answer", address.text());
  int error = 0;
  socklen_t bytes = sizeof(error);
  getsockopt(fd.get(), SOL_SOCKET, SO_ERROR, &error, &bytes);
  errno = error;
  if (error != 0) return fail_errno("connect to {}", address.text());
  return std::move(fd);
}

}  // namespace sojourn::files
