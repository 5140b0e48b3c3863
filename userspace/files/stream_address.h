// The addresses for streaming a trace: tcp://127.0.0.1:9000, unix:/run/gnb.sock, or
// tls://gnb.example:9000. TCP and unix sockets are neither encrypted nor protected by a token. So
// TCP is limited to loopback addresses, which ssh can forward. TLS may use any address
// (stream_access.h).
#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include <sys/socket.h>

#include "analysis/base/result.h"
#include "userspace/base/fd.h"

namespace sojourn::files {

struct StreamAddress {
  std::string host;  // "127.0.0.1", "::1"; for TLS also a name
  std::uint16_t port = 0;
  std::string path = {};  // of a unix socket, which has no host
  bool is_tls = false;

  bool is_unix() const { return !path.empty(); }
  std::string text() const;  // "tcp://127.0.0.1:9000", "unix:/run/gnb.sock"
};

// An address as the socket functions take it.
struct Endpoint {
  sockaddr_storage address{};
  socklen_t bytes = 0;

  const sockaddr* get() const { return reinterpret_cast<const sockaddr*>(&address); }
};

// Returns whether the name of a trace is a stream: "-", "tcp://...", "unix:...", "tls://...".
bool is_stream(std::string_view name);

// "tcp://" may be left out. Fails if the address is not on this machine, unless it is "tls://...".
Result<StreamAddress> parse_stream_address(std::string_view text);
// For servers that know no TLS: a loopback address or a unix socket.
Result<StreamAddress> parse_local_address(std::string_view text);
// For servers of browsers: a loopback address.
Result<StreamAddress> parse_local_port(std::string_view text);

// Listens. Port 0 becomes a free one. A unix socket is accessible to its owner only; an abandoned
// one is replaced.
Result<base::Fd> listen_at(StreamAddress& address);

// Looks the address up. A name may have several.
Result<std::vector<Endpoint>> endpoints_of(const StreamAddress& address);

// Begins to connect. If the socket is not connected at once, it becomes writable, and connected()
// returns the result. The error's kind is kNoAnswer if no program listens at the address.
Result<base::Fd> begin_to_connect(const Endpoint& endpoint, const StreamAddress& address);
Result<void> connected(const base::Fd& fd, const StreamAddress& address);

// Connects, within some seconds.
Result<base::Fd> connect_to(const StreamAddress& address);
Result<base::Fd> connect_to(const StreamAddress& address, std::chrono::milliseconds patience);

}  // namespace sojourn::files
