// Multiplexing RLC into a transport block: status PDUs first, then segments, bearer after bearer,
// until the grant is used up. The base station and the simulated UEs share it; the base station's
// callbacks hit its points.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>

#include "tests/basestation/rlc_tx.h"

namespace sojourn::basestation {

// With all HARQ processes full of such blocks fewer than half of the RLC numbers are on their way.
inline constexpr std::size_t kMaxSegments = 64;
static_assert(kMaxSegments * kHarqProcesses <= kRsnModulus / 4);

// One bearer's sending side at the multiplexer.
struct MuxBearer {
  std::unique_ptr<RlcTx> tx;
  std::optional<Status> status;  // waits to be sent

  bool has_data() const { return status || tx->has_data(); }
};

// `first` is the bearer that comes first this time. on_status and on_segment see each PDU after it
// got its place and may set its hit.
template <typename OnStatus, typename OnSegment>
void multiplex(TransportBlock& block, std::span<MuxBearer> bearers, std::size_t first,
               std::uint32_t grant_bytes, std::uint64_t now, OnStatus on_status,
               OnSegment on_segment) {
  for (MuxBearer& bearer : bearers) {
    if (!bearer.status || block.bytes + bearer.status->bytes() > grant_bytes) continue;
    Status& status = block.statuses.emplace_back(std::move(*bearer.status));
    bearer.status.reset();
    block.bytes += status.bytes();
    on_status(status);
  }
  for (std::size_t turn = 0; turn < bearers.size(); ++turn) {
    RlcTx& tx = *bearers[(first + turn) % bearers.size()].tx;
    while (block.segments.size() < kMaxSegments) {
      auto pulled = tx.pull(grant_bytes - block.bytes, now);
      if (!pulled) break;
      block.bytes += pulled->len + kPduHeaderBytes;
      on_segment(block.segments.emplace_back(*pulled), tx);
    }
  }
}

}  // namespace sojourn::basestation
