// Sends a running capture's blocks to whoever connects, and to whom it was told to connect. A
// thread of its own does it, with the rights of the files' owner and no others: neither the drain
// nor the sink ever waits for a network. A reader gets no more than it takes. Where the connection
// to one of the second kind breaks, it is made again: what is sent then is a trace of its own, and
// follows the one before where somebody keeps both (analysis/trace/parts.h).
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
  std::vector<files::StreamAddress> listen;   // for readers that come
  std::vector<files::StreamAddress> connect;  // readers that are there already
  // For addresses with TLS: what a reader has to send, who we are, and whom we trust.
  std::string token = {};
  std::string certificate = {};
  std::string key = {};
  std::string authorities = {};    // empty: the system's
  bool keeps_unread_only = false;  // the file gets events only while nobody reads
  bool has_own_reader = false;     // in this process, which takes it by own_stream()

  bool is_wanted() const { return !listen.empty() || !connect.empty() || has_own_reader; }
};

class StreamServer {
 public:
  // Listens and has connected when it returns. The feed outlives it.
  static Result<std::unique_ptr<StreamServer>> start(const StreamOptions& options, BlockFeed& feed,
                                                     const FileOwner& owner);
  StreamServer(const StreamServer&) = delete;
  StreamServer& operator=(const StreamServer&) = delete;
  ~StreamServer();  // without finish() readers are cut off

  // Its addresses, with the ports that it got.
  const std::vector<files::StreamAddress>& addresses() const { return addresses_; }

  // The other end of the stream to this process's own reader, once.
  base::Fd own_stream() { return std::move(own_stream_); }

  // Called when the feed has finished: waits until the readers have all of it, for some seconds at
  // most if one takes nothing. Returns whether all of them have it.
  bool finish();
  // How often a connection that it had made was made again. After finish().
  std::uint64_t reconnections() const;

 private:
  class Loop;
  explicit StreamServer(std::unique_ptr<Loop> loop);

  std::vector<files::StreamAddress> addresses_;
  base::Fd own_stream_;
  std::unique_ptr<Loop> loop_;
};

}  // namespace sojourn::capture
