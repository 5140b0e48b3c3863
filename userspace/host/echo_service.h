// The other end of network measurements: a child process on loopback, or `sojourn host --serve` on
// another machine. The first byte of a connection selects the service: 'E' returns each 64 bytes;
// 'S' counts and discards all bytes, and returns the count after the sender has shut down its side.
// Any other byte ends the connection. The service stores nothing and executes nothing.
#pragma once

#include <cstddef>

#include "analysis/base/result.h"
#include "userspace/base/fd.h"

namespace sojourn::host {

inline constexpr std::size_t kEchoBytes = 64;
inline constexpr char kWantsEcho = 'E';
inline constexpr char kWantsSink = 'S';

// Answers one connection until it ends, or is silent for ten seconds.
void serve_connection(const base::Fd& connection);

// Accepts connections, at most eight at a time, until `stop` is readable.
Result<void> serve(const base::Fd& listening, const base::Fd& stop);

// Serves one connection after the other. It runs in a child process, and a signal ends it.
void serve_one_by_one(const base::Fd& listening);

}  // namespace sojourn::host
