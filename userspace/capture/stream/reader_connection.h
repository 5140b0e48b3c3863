// One reader of a running capture: its connection from the first packet to the last. Over TLS the
// peer must send the token before it becomes a reader of the feed. All other input is discarded,
// and a peer that sends much is cut off. Nothing blocks. One thread owns it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>

#include "userspace/base/fd.h"
#include "userspace/capture/stream/block_feed.h"
#include "userspace/tls/session.h"

namespace sojourn::capture {

class ReaderConnection {
 public:
  // The protection of the connection (no session: none), and the kind of reader that it becomes.
  struct Guard {
    std::optional<tls::Session> session = {};
    std::string token = {};
    BlockFeed::Kind kind = BlockFeed::Kind::kReader;
  };

  // The socket may still be connecting. `wake` is called when a chunk waits for the reader.
  ReaderConnection(base::Fd fd, Guard guard, BlockFeed& feed, BlockFeed::Wake wake);
  ReaderConnection(ReaderConnection&&) = delete;
  ~ReaderConnection();

  int fd() const { return fd_.get(); }
  // The events that epoll or poll must wait for; both use the same values.
  std::uint32_t awaited() const;
  // Reads the peer's input. Returns false if the peer is gone or must be cut off.
  bool receive(std::uint32_t events);
  // Sends some of the waiting chunks. Returns false if the peer is gone. `has_more`: some are left.
  bool send(bool& has_more);
  // Tells the peer that no more data will come.
  void say_goodbye();

  bool is_reader() const { return reader_ != nullptr; }
  bool is_watcher() const { return guard_.kind == BlockFeed::Kind::kWatcher; }
  bool has_everything() const { return reader_ && feed_->is_complete(*reader_); }
  std::uint64_t progress_ns() const { return progress_ns_; }
  // Returns whether the peer has not become a reader in time.
  bool is_late(std::uint64_t now_ns) const;
  // Why the connection failed; empty: no reason is known.
  const std::string& failure() const { return failure_; }

 private:
  enum class State : std::uint8_t { kConnecting, kHandshake, kToken, kReading };

  bool advance();
  bool shake_hands();
  bool take_token();
  bool become_reader();
  bool refuse(std::string why);
  bool take_step(tls::Step step);
  bool discard_input();
  // Returns how many bytes of the waiting chunks were sent. 0: the socket is full; nothing: the
  // peer is gone.
  std::optional<std::size_t> send_some(std::span<const BlockFeed::Chunk> chunks);
  std::optional<std::size_t> send_plain(std::span<const BlockFeed::Chunk> chunks);

  BlockFeed* feed_;
  BlockFeed::Wake wake_;
  base::Fd fd_;
  Guard guard_;
  std::shared_ptr<BlockFeed::Reader> reader_;
  State state_;
  bool is_plain_;
  bool wants_to_write_ = false;    // TLS waits to write, before the peer is a reader
  bool is_blocked_ = false;        // the socket is full
  bool has_shut_down_ = false;     // the peer has shut down its sending side
  std::string line_;               // the token's line, as far as it was received
  std::size_t sent_of_first_ = 0;  // bytes of the first waiting chunk that were sent
  std::size_t received_ = 0;
  std::uint64_t since_ns_;
  std::uint64_t progress_ns_;
  std::string failure_;
};

}  // namespace sojourn::capture
