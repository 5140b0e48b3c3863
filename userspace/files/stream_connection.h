// The reader's side of a stream: connects, by TLS if the address says so, sends the token, and
// receives. Nothing blocks after open(). One thread owns a StreamConnection.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include <poll.h>

#include "analysis/base/result.h"
#include "userspace/base/fd.h"
#include "userspace/files/stream_access.h"
#include "userspace/files/stream_address.h"
#include "userspace/tls/session.h"

namespace sojourn::files {

class StreamConnection {
 public:
  // Takes token and authorities from the environment if the address needs them. `patience` is the
  // timeout of each step.
  static Result<StreamConnection> open(const StreamAddress& address,
                                       std::chrono::milliseconds patience);

  int fd() const { return fd_.get(); }
  // The poll event to wait for before the next receive(): POLLIN or POLLOUT.
  short awaited() const { return awaited_; }
  bool is_open() const { return is_open_; }

  // Returns how many bytes were received, perhaps none. Fails, with the peer's words, if the peer
  // refuses this reader. A peer that vanishes closes the connection, which is no error.
  Result<std::size_t> receive(std::span<std::uint8_t> into);

 private:
  explicit StreamConnection(base::Fd fd) : fd_(std::move(fd)) {}
  Result<void> begin_tls(const StreamAddress& address, const StreamAccess& access,
                         std::chrono::milliseconds patience);
  Result<void> check_for_refusal(std::span<const std::uint8_t> bytes);
  std::size_t receive_plain(std::span<std::uint8_t> into);
  std::size_t receive_tls(std::span<std::uint8_t> into);

  base::Fd fd_;
  std::optional<tls::Session> tls_;
  std::string name_;
  std::string begin_;  // the first bytes, while they may be a refusal
  bool has_begun_ = false;
  bool is_open_ = true;
  short awaited_ = POLLIN;
};

// The beginning of the text that a recorder sends instead of a trace when it refuses a reader.
constexpr std::string_view kRefusal = "sojourn: ";

}  // namespace sojourn::files
