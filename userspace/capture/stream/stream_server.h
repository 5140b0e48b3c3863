// Sends a running capture's blocks to readers: to those that connect, and to those that it was
// asked to connect to. It has a thread of its own with only the rights of the files' owner, so
// neither the drain nor the sink ever waits for a network. If a connection of the second kind
// breaks, it is made again. The new connection carries a trace of its own, which continues the one
// before if the reader keeps both (analysis/trace/parts.h).
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "analysis/base/result.h"
#include "userspace/base/fd.h"
#include "userspace/capture/rights/rights.h"
#include "userspace/capture/stream/block_feed.h"
#include "userspace/files/stream_address.h"

namespace sojourn::capture {

struct StreamOptions {
  std::vector<files::StreamAddress> listen;   // addresses to which readers may connect
  std::vector<files::StreamAddress> connect;  // readers to connect to
  // For addresses with TLS: the token that a reader must send, our certificate and its key, and the
  // authorities that we trust.
  std::string token = {};
  std::string certificate = {};
  std::string key = {};
  std::string authorities = {};    // empty: the system's authorities
  bool keeps_unread_only = false;  // the file gets events only while there is no reader
  bool has_own_reader = false;     // a reader in this process, which calls own_stream()

  bool is_wanted() const { return !listen.empty() || !connect.empty() || has_own_reader; }
};

class StreamServer {
 public:
  // When this returns it listens, and all connections are made. The feed must outlive it.
  static Result<std::unique_ptr<StreamServer>> start(const StreamOptions& options, BlockFeed& feed,
                                                     const FileOwner& owner);
  StreamServer(const StreamServer&) = delete;
  StreamServer& operator=(const StreamServer&) = delete;
  ~StreamServer();  // without finish() readers are cut off

  // The addresses on which it listens, with the ports that the system has chosen.
  const std::vector<files::StreamAddress>& addresses() const { return addresses_; }

  // Returns this process's own end of the stream, once.
  base::Fd own_stream() { return std::move(own_stream_); }

  // Called when the feed has finished. Waits until all readers have everything, some seconds at
  // most for a reader that takes nothing. Returns whether all have it.
  bool finish();
  // How often a lost connection to a reader was made again. Valid after finish().
  std::uint64_t reconnections() const;

 private:
  class Loop;
  explicit StreamServer(std::unique_ptr<Loop> loop);

  std::vector<files::StreamAddress> addresses_;
  base::Fd own_stream_;
  std::unique_ptr<Loop> loop_;
};

}  // namespace sojourn::capture
