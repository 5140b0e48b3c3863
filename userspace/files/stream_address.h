// Where a trace is streamed from or to: tcp://127.0.0.1:9000, unix:/run/gnb.sock, or
// tls://gnb.example:9000. What goes by TCP or a unix socket is neither encrypted nor protected by a
// token, so TCP reaches no further than this machine: loopback addresses, and no others. ssh
// forwards them. TLS reaches everywhere (stream_access.h).
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
  std::string host;  // "127.0.0.1", "::1", of TLS also a name
  std::uint16_t port = 0;
  std::string path = {};  // of a unix socket: then there is no host
  bool is_tls = false;

  bool is_unix() const { return !path.empty(); }
  std::string text() const;  // "tcp://127.0.0.1:9000", "unix:/run/gnb.sock"
};

// An address as the system has it.
struct Endpoint {
  sockaddr_storage address{};
  socklen_t bytes = 0;

  const sockaddr* get() const { return reinterpret_cast<const sockaddr*>(&address); }
};

// A name of a trace that is not one of a file: "-", "tcp://...", "unix:...", "tls://...".
bool is_stream(std::string_view name);

// "tcp://" may be left out. An error where it is not of this machine, and is not "tls://...".
Result<StreamAddress> parse_stream_address(std::string_view text);
// The same for what knows no TLS.
Result<StreamAddress> parse_local_address(std::string_view text);

// Listens. Port 0 becomes a free one. A unix socket is accessible to its owner only; an abandoned
// one is replaced.
Result<base::Fd> listen_at(StreamAddress& address);

// The address; several where a name has several.
Result<std::vector<Endpoint>> endpoints_of(const StreamAddress& address);

// Has connected, or is about to: then the socket becomes writable, and connected() tells. The error
// is of the kind kNoAnswer where nobody listens.
Result<base::Fd> begin_to_connect(const Endpoint& endpoint, const StreamAddress& address);
Result<void> connected(const base::Fd& fd, const StreamAddress& address);

// Connects, within some seconds.
Result<base::Fd> connect_to(const StreamAddress& address);
Result<base::Fd> connect_to(const StreamAddress& address, std::chrono::milliseconds patience);

}  // namespace sojourn::files
