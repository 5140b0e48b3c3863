// Reads a stream into a file. If the connection breaks before the capture has ended, it connects
// again and appends the new part. All parts are one trace, whose ledger counts the events that
// passed in between (analysis/trace/parts.h). Only an attempt to connect blocks. One thread owns a
// KeptStream.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <poll.h>

#include "analysis/base/result.h"
#include "analysis/trace/framing.h"
#include "userspace/files/stream_address.h"
#include "userspace/files/stream_connection.h"

namespace sojourn::files {

class KeptStream {
 public:
  using Clock = std::chrono::steady_clock;

  // The file must be empty, and must outlive the stream.
  static Result<KeptStream> open(const std::string& name, int file);

  // Takes the received bytes, about `most_bytes` at most. If the connection is broken and the next
  // attempt is due, tries to connect for `patience` at most.
  Result<void> take(std::uint64_t most_bytes, std::chrono::milliseconds patience);

  // The file's size up to the last whole block. If the stream is no trace, all of its bytes.
  std::uint64_t size() const;
  // Returns true if nothing more will come: the capture has ended, or the connection broke for
  // good.
  bool is_complete() const { return is_complete_; }
  // The event to wait for before the next take(), and the time until the next attempt to connect.
  std::optional<pollfd> awaited() const;
  std::chrono::milliseconds until_next_try() const;
  // Returns what happened to the connection since the last call, as text for the user; empty:
  // nothing.
  std::string take_news() { return std::exchange(news_, {}); }

 private:
  KeptStream(StreamAddress address, StreamConnection connection, int file)
      : address_(std::move(address)),
        connection_(std::move(connection)),
        file_(file),
        piece_(std::size_t{64} << 10) {}

  Result<void> keep(std::span<const std::uint8_t> bytes);
  void follow(std::span<const std::uint8_t> bytes);
  void end_part();
  void try_again(std::chrono::milliseconds patience);
  void give_up(const std::string& why);
  bool is_first_part() const { return part_begin_ == 0; }

  StreamAddress address_;
  std::optional<StreamConnection> connection_;  // empty: it is broken
  int file_;
  std::vector<std::uint8_t> piece_;
  trace::Framing framing_;        // of the part that is being received
  std::string capture_;           // the capture's name in the first part
  std::uint64_t part_begin_ = 0;  // its offset in the file
  std::uint64_t end_ = 0;         // the end of the kept bytes
  bool is_complete_ = false;
  Clock::time_point broken_since_;
  Clock::time_point next_try_;
  std::string news_;
};

}  // namespace sojourn::files
