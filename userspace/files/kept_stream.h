// A stream that is read into a file. Where the connection breaks before the capture has ended, it
// connects again, and what comes then follows what is there: together they are one trace, whose
// ledger counts what passed in between (analysis/trace/parts.h). Nothing blocks but an attempt to
// connect. One thread owns a KeptStream.
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

  // The file, which is empty, outlives it.
  static Result<KeptStream> open(const std::string& name, int file);

  // Takes what has come, and not much more than so many bytes of it. Where the connection is
  // broken, tries to connect for so long at most, if it is time for that.
  Result<void> take(std::uint64_t most_bytes, std::chrono::milliseconds patience);

  // Of the file: whole blocks, and while the first part lasts that is no trace, everything.
  std::uint64_t size() const;
  // Nothing more comes. What is there is all of it, or up to where a connection broke for good.
  bool is_complete() const { return is_complete_; }
  // What to wait for before the next take(), and for how long at most.
  std::optional<pollfd> awaited() const;
  std::chrono::milliseconds until_next_try() const;
  // What became of the connection since the last call, in words for people; empty: nothing.
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
  std::optional<StreamConnection> connection_;  // none: it is broken
  int file_;
  std::vector<std::uint8_t> piece_;
  trace::Framing framing_;        // of the part that comes
  std::string capture_;           // of the first part
  std::uint64_t part_begin_ = 0;  // in the file
  std::uint64_t end_ = 0;         // of all that is kept
  bool is_complete_ = false;
  Clock::time_point broken_since_;
  Clock::time_point next_try_;
  std::string news_;
};

}  // namespace sojourn::files
