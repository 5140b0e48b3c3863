// Where a trace is streamed from or to: tcp://127.0.0.1:9000, or unix:/run/gnb.sock. What is
// streamed is neither encrypted nor protected by a token, so TCP reaches no further than this
// machine: loopback addresses, and no others. ssh forwards them.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "analysis/base/result.h"
#include "userspace/base/fd.h"

namespace sojourn::files {

struct StreamAddress {
  std::string host;  // "127.0.0.1", "::1"
  std::uint16_t port = 0;
  std::string path;  // of a unix socket: then there is no host

  bool is_unix() const { return !path.empty(); }
  std::string text() const;  // "tcp://127.0.0.1:9000", "unix:/run/gnb.sock"
};

// A name of a trace that is not one of a file: "-", "tcp://...", "unix:...".
bool is_stream(std::string_view name);

// "tcp://" may be left out. An error where it is not of this machine.
Result<StreamAddress> parse_stream_address(std::string_view text);

// Listens. A port of 0 becomes one that is free. A unix socket is its owner's alone; one that
// nobody listens at any more is replaced.
Result<base::Fd> listen_at(StreamAddress& address);

// Connects, within some seconds.
Result<base::Fd> connect_to(const StreamAddress& address);

}  // namespace sojourn::files
