#include "userspace/files/stream_address.h"

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstring>
#include <memory>
#include <optional>
#include <utility>

#include <arpa/inet.h>
#include <fcntl.h>
#include <netdb.h>
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
constexpr std::string_view kTls = "tls://";
constexpr std::string_view kUnix = "unix:";
constexpr int kBacklog = 128;

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

Result<Endpoint> unix_endpoint(const StreamAddress& address) {
  sockaddr_un path{};
  path.sun_family = AF_UNIX;
  if (address.path.size() >= sizeof(path.sun_path))
    return fail("{}: the path of a unix socket has at most {} bytes", address.text(),
                sizeof(path.sun_path) - 1);
  std::ranges::copy(address.path, path.sun_path);
  return endpoint_of(path);
}

struct FreeAddresses {
  void operator()(addrinfo* addresses) const { freeaddrinfo(addresses); }
};

Result<std::vector<Endpoint>> look_up(const StreamAddress& address) {
  addrinfo wanted{};
  wanted.ai_socktype = SOCK_STREAM;
  wanted.ai_flags = AI_ADDRCONFIG | AI_NUMERICSERV;
  addrinfo* list = nullptr;
  const int found =
      getaddrinfo(address.host.c_str(), std::to_string(address.port).c_str(), &wanted, &list);
  if (found != 0) return fail("{}: find its address: {}", address.text(), gai_strerror(found));
  const std::unique_ptr<addrinfo, FreeAddresses> addresses(list);
  std::vector<Endpoint> endpoints;
  for (const addrinfo* one = list; one != nullptr; one = one->ai_next) {
    Endpoint endpoint;
    if (one->ai_addrlen > sizeof(endpoint.address)) continue;
    std::memcpy(&endpoint.address, one->ai_addr, one->ai_addrlen);
    endpoint.bytes = one->ai_addrlen;
    endpoints.push_back(endpoint);
  }
  if (endpoints.empty()) return fail("{}: it has no address", address.text());
  return endpoints;
}

Result<base::Fd> socket_for(const Endpoint& endpoint, const StreamAddress& address) {
  base::Fd fd(socket(endpoint.address.ss_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));
  if (!fd) return fail_errno("make a socket for {}", address.text());
  return fd;
}

// The error of a failed connection. Its kind is kNoAnswer if no program listens at the address.
std::unexpected<Error> not_connected(const StreamAddress& address) {
  const bool is_nobody = errno == ECONNREFUSED || errno == ENOENT;
  auto failed = fail_errno("connect to {}", address.text());
  return is_nobody ? std::unexpected(Error(failed.error().text(), ErrorKind::kNoAnswer)) : failed;
}

// Removes the socket of a killed program, at which no program listens any more.
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

constexpr std::string_view kPort = "not an address with a port, such as 127.0.0.1:8080";
constexpr std::string_view kPortOrSocket =
    "neither an address with a port, such as 127.0.0.1:9000, nor unix:PATH";

// `wanted` says of another text what it is not.
Result<StreamAddress> parse_any(std::string_view text, std::string_view wanted) {
  std::string_view rest = text;
  StreamAddress address;
  if (rest.starts_with(kUnix)) {
    address.path = rest.substr(kUnix.size());
    if (address.path.empty()) return fail("\"{}\" names no path", text);
    return address;
  }
  address.is_tls = rest.starts_with(kTls);
  if (address.is_tls || rest.starts_with(kTcp)) rest.remove_prefix(kTcp.size());
  const auto colon = rest.rfind(':');
  const std::string_view digits = colon == std::string_view::npos ? "" : rest.substr(colon + 1);
  const auto [end, code] =
      std::from_chars(digits.data(), digits.data() + digits.size(), address.port);
  const bool is_number = !digits.empty() && end == digits.data() + digits.size();
  if (is_number && code == std::errc::result_out_of_range)
    return fail("\"{}\": ports end at 65535", text);
  if (!is_number || code != std::errc()) return fail("\"{}\" is {}", text, wanted);
  std::string_view host = rest.substr(0, colon);
  if (host.starts_with('[') && host.ends_with(']')) host = host.substr(1, host.size() - 2);
  if (address.is_tls && host.empty()) return fail("\"{}\" names no host", text);
  address.host = !address.is_tls && host == "localhost" ? "127.0.0.1" : host;
  return address;
}

bool is_of_this_machine(const StreamAddress& address) {
  if (address.is_unix()) return true;
  const auto endpoint = tcp_endpoint(address);
  return endpoint && is_loopback(*endpoint);
}

// The address of a server that has no encryption: it must be of this machine.
Result<StreamAddress> parse_local(std::string_view text, std::string_view wanted) {
  SJ_TRY(address, parse_any(text, wanted));
  if (!address.is_tls && is_of_this_machine(address)) return std::move(address);
  return fail(
      "\"{}\" {}: 127.0.0.1:{} can be listened at, and `ssh -L {}:127.0.0.1:{} HOST` or a reverse "
      "proxy lets other machines reach it",
      text,
      address.is_tls ? "is encrypted, and only streams of a trace know TLS"
                     : "can be reached by others, and is not encrypted",
      address.port, address.port, address.port);
}

}  // namespace

std::string StreamAddress::text() const {
  if (is_unix()) return fmt::format("{}{}", kUnix, path);
  const std::string_view scheme = is_tls ? kTls : kTcp;
  return host.contains(':') ? fmt::format("{}[{}]:{}", scheme, host, port)
                            : fmt::format("{}{}:{}", scheme, host, port);
}

bool is_stream(std::string_view name) {
  return name == "-" || name.starts_with(kTcp) || name.starts_with(kUnix) || name.starts_with(kTls);
}

Result<StreamAddress> parse_stream_address(std::string_view text) {
  SJ_TRY(address, parse_any(text, kPortOrSocket));
  if (address.is_tls || is_of_this_machine(address)) return std::move(address);
  StreamAddress protected_one = address;
  protected_one.is_tls = true;
  return fail(
      "\"{}\" is not of this machine: without encryption only loopback addresses and unix "
      "sockets are allowed; {} is encrypted and wants a token (docs/streaming.md), and "
      "`ssh -L {}:127.0.0.1:{} HOST` makes another host's port one of this machine",
      text, protected_one.text(), address.port, address.port);
}

Result<StreamAddress> parse_local_address(std::string_view text) {
  return parse_local(text, kPortOrSocket);
}

Result<StreamAddress> parse_local_port(std::string_view text) {
  SJ_TRY(address, parse_local(text, kPort));
  if (address.is_unix()) return fail("\"{}\" is {}", text, kPort);
  return std::move(address);
}

Result<std::vector<Endpoint>> endpoints_of(const StreamAddress& address) {
  if (!address.is_unix()) {
    if (const auto endpoint = tcp_endpoint(address)) return std::vector{*endpoint};
    if (address.is_tls) return look_up(address);
    return fail("{}: not an address", address.text());
  }
  SJ_TRY(endpoint, unix_endpoint(address));
  return std::vector{endpoint};
}

Result<base::Fd> listen_at(StreamAddress& address) {
  SJ_TRY(endpoints, endpoints_of(address));
  const Endpoint& endpoint = endpoints.front();
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

Result<base::Fd> begin_to_connect(const Endpoint& endpoint, const StreamAddress& address) {
  SJ_TRY(fd, socket_for(endpoint, address));
  if (connect(fd.get(), endpoint.get(), endpoint.bytes) != 0 && errno != EINPROGRESS)
    return not_connected(address);
  return std::move(fd);
}

Result<void> connected(const base::Fd& fd, const StreamAddress& address) {
  int error = 0;
  socklen_t bytes = sizeof(error);
  getsockopt(fd.get(), SOL_SOCKET, SO_ERROR, &error, &bytes);
  errno = error;
  if (error != 0) return not_connected(address);
  return {};
}

Result<base::Fd> connect_to(const StreamAddress& address) {
  return connect_to(address, std::chrono::seconds(5));
}

Result<base::Fd> connect_to(const StreamAddress& address, std::chrono::milliseconds patience) {
  SJ_TRY(endpoints, endpoints_of(address));
  Result<base::Fd> tried = fail("{}: it has no address", address.text());
  for (const Endpoint& endpoint : endpoints) {
    tried = begin_to_connect(endpoint, address);
    if (!tried) continue;
    pollfd wanted{.fd = tried->get(), .events = POLLOUT, .revents = 0};
    if (poll(&wanted, 1, static_cast<int>(patience.count())) <= 0) {
      tried = fail("connect to {}: no answer", address.text());
    } else if (const auto is_there = connected(*tried, address); !is_there) {
      tried = std::unexpected(is_there.error());
    } else {
      return tried;
    }
  }
  return tried;
}

}  // namespace sojourn::files
