// Sends a running capture's blocks to whoever connects, and to whom it was told to connect. A
// thread of its own does it, with the rights of the files' owner and no others: neither the drain
// nor the sink ever waits for a network. A reader gets no more than it takes; what it sends is read
// and thrown away, and a reader that sends much is cut off.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "analysis/base/result.h"
#include "userspace/capture/rights/rights.h"
#include "userspace/capture/stream/block_feed.h"
#include "userspace/files/stream_address.h"

namespace sojourn::capture {

struct StreamOptions {
  std::vector<files::StreamAddress> listen;   // for readers that come
  std::vector<files::StreamAddress> connect;  // readers that are there already

  bool is_wanted() const { return !listen.empty() || !connect.empty(); }
};

class StreamServer {
 public:
  // Listens and has connected when it returns. The feed outlives it.
  static Result<std::unique_ptr<StreamServer>> start(const StreamOptions& options, BlockFeed& feed,
                                                     const FileOwner& owner);
  StreamServer(const StreamServer&) = delete;
  StreamServer& operator=(const StreamServer&) = delete;
  ~StreamServer();  // without finish() readers are cut off

  // Where it listens, with the ports that it got.
  const std::vector<files::StreamAddress>& addresses() const { return addresses_; }

  // The feed has finished: waits until the readers have all of it, for seconds at most where one
  // takes nothing. True: all of them have.
  bool finish();

 private:
  class Loop;
  explicit StreamServer(std::unique_ptr<Loop> loop);

  std::vector<files::StreamAddress> addresses_;
  std::unique_ptr<Loop> loop_;
};

}  // namespace sojourn::capture
