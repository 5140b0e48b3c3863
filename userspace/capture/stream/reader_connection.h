// One reader of a running capture: its connection from the first packet to the last. By TLS it has
// to show the token before it becomes a reader of the feed. Nothing blocks. What it sends otherwise
// is read and thrown away, and whoever sends much is cut off. One thread owns it.
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
  // How the connection is protected; without a session it is not. And whether its reader counts as
  // one.
  struct Guard {
    std::optional<tls::Session> session = {};
    std::string token = {};
    BlockFeed::Kind kind = BlockFeed::Kind::kReader;
  };

  // The socket may still be connecting. `wake` is called where something waits for the reader.
  ReaderConnection(base::Fd fd, Guard guard, BlockFeed& feed, BlockFeed::Wake wake);
  ReaderConnection(ReaderConnection&&) = delete;
  ~ReaderConnection();

  int fd() const { return fd_.get(); }
  // What epoll or poll is to wait for; their values are the same.
  std::uint32_t awaited() const;
  // Takes what has come, as far as it matters. False: the other side is gone, or is to go.
  bool receive(std::uint32_t events);
  // Sends what waits for it, some of it. False: it is gone. `has_more`: it was not all.
  bool send(bool& has_more);
  // No more will come: says so.
  void say_goodbye();

  bool is_reader() const { return reader_ != nullptr; }
  bool has_everything() const { return reader_ && feed_->is_complete(*reader_); }
  std::uint64_t progress_ns() const { return progress_ns_; }
  // Whether it had its time to become a reader.
  bool is_late(std::uint64_t now_ns) const;
  // Why it is gone, where there is a reason.
  const std::string& failure() const { return failure_; }

 private:
  enum class State : std::uint8_t { kConnecting, kHandshake, kToken, kReading };

  bool advance();
  bool shake_hands();
  bool take_token();
  bool become_reader();
  bool refuse(std::string why);
  bool take_step(tls::Step step);
  bool throw_away();
  // How much of the waiting chunks was sent; 0: the socket takes nothing now. None: it is gone.
  std::optional<std::size_t> send_some(std::span<const BlockFeed::Chunk> chunks);
  std::optional<std::size_t> send_plain(std::span<const BlockFeed::Chunk> chunks);

  BlockFeed* feed_;
  BlockFeed::Wake wake_;
  base::Fd fd_;
  Guard guard_;
  std::shared_ptr<BlockFeed::Reader> reader_;
  State state_;
  bool is_plain_;
  bool wants_to_write_ = false;    // of TLS, before it is a reader
  bool is_blocked_ = false;        // until its socket has room
  bool says_nothing_ = false;      // it has shut its side down
  std::string line_;               // of the token, as far as it has come
  std::size_t sent_of_first_ = 0;  // of the first chunk that waits
  std::size_t received_ = 0;
  std::uint64_t since_ns_;
  std::uint64_t progress_ns_;
  std::string failure_;
};

}  // namespace sojourn::capture
