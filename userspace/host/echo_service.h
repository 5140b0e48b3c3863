// The other end of network measurements: on loopback a child of this process, on another machine
// `sojourn host --serve`. A connection begins with one byte that says what is wanted: 'E', every
// 64 bytes come back; 'S', what comes is counted and thrown away, and the count is told at the end
// of sending. Anything else ends the connection. It keeps nothing and executes nothing.
#pragma once

#include <cstddef>

#include "analysis/base/result.h"
#include "userspace/base/fd.h"

namespace sojourn::host {

inline constexpr std::size_t kEchoBytes = 64;
inline constexpr char kWantsEcho = 'E';
inline constexpr char kWantsSink = 'S';

// Answers one connection to its end, or until it is silent for ten seconds.
void serve_connection(const base::Fd& connection);

// Takes connections, at most eight at a time, until `stop` can be read.
Result<void> serve(const base::Fd& listening, const base::Fd& stop);

// Serves one connection after the other. Runs in a child that is killed to end it.
void serve_one_by_one(const base::Fd& listening);

}  // namespace sojourn::host
