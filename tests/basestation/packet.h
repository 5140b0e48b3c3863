// The data units that travel through the base station, all of them plain values: a user packet, a
// segment of it, RLC status, a transport block and its transmissions. Each carries the truth id of
// its latest hit. User bytes themselves do not travel: the pipeline moves descriptors, the sockets
// at its two ends move real bytes.
#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <optional>
#include <utility>
#include <variant>
#include <vector>

#include "tests/basestation/config.h"
#include "tests/basestation/truth.h"

namespace sojourn::basestation {

using truth::Direction;
using truth::HitId;
using truth::PacketId;

struct Packet {
  PacketId id = 0;
  std::uint64_t created_ns = 0;
  HitId hit = 0;
  std::uint32_t bytes = 0;  // of the user
  std::uint32_t psn = 0;
  std::uint16_t rnti = 0;
  std::uint16_t gsn = 0;
  std::uint8_t drb = 0;
  std::uint8_t header_bytes = 0;  // of SDAP and PDCP, once the packet has been there

  std::uint32_t pdu_bytes() const { return bytes + header_bytes; }

  // The user's bytes among bytes [from, to) of the PDCP PDU.
  truth::Piece piece(std::uint32_t from, std::uint32_t to) const {
    const std::uint32_t header = header_bytes;
    return {id, std::max(from, header) - header, std::max(to, header) - header};
  }
};

inline constexpr std::uint32_t kRsnModulus = 4096;   // 12 bits, both modes
inline constexpr std::uint32_t kPduHeaderBytes = 6;  // RLC header and MAC subheader of one PDU

// Bytes [so, so + len) of the RLC SDU that is numbered rsn.
struct Segment {
  Packet packet;
  std::uint16_t rsn = 0;
  std::uint16_t window_start = 0;  // AM: the sender will never send an older rsn again
  std::uint32_t so = 0;
  std::uint32_t len = 0;
  bool poll = false;
  HitId hit = 0;
  HitId repeat_of = 0;

  std::uint32_t end() const { return so + len; }
  bool whole() const { return len == packet.pdu_bytes(); }
};

struct Nack {
  std::uint16_t rsn = 0;
  std::uint32_t from = 0;
  std::uint32_t to = 0;
};

inline constexpr std::uint32_t kToSduEnd = UINT32_MAX;
inline constexpr std::size_t kMaxNacks = 16;

// An RLC status PDU: everything below ack_rsn has arrived, but for the NACKs.
struct Status {
  std::uint16_t rnti = 0;
  std::uint8_t drb = 0;
  std::uint16_t ack_rsn = 0;
  std::vector<Nack> nacks;
  HitId hit = 0;

  std::uint32_t bytes() const { return 3 + 6 * static_cast<std::uint32_t>(nacks.size()); }
};

struct TransportBlock {
  std::uint16_t rnti = 0;
  std::uint8_t harq = 0;
  std::uint32_t slot = 0;  // of its first transmission
  std::uint32_t bytes = 0;
  std::vector<Status> statuses;
  std::vector<Segment> segments;
  HitId hit = 0;

  bool empty() const { return statuses.empty() && segments.empty(); }
};

// One HARQ transmission of a block; the block itself is shared by all of them and never changes.
struct Transmission {
  std::shared_ptr<const TransportBlock> block;
  std::uint32_t slot = 0;
  std::uint8_t round = 0;
  bool corrupt = false;  // the air destroyed it
  HitId hit = 0;
};

// The scheduler allows a UE to send: new data, or (round > 0) its block in `harq` once more.
struct Grant {
  std::uint16_t rnti = 0;
  std::uint8_t harq = 0;
  std::uint8_t round = 0;
  std::uint32_t slot = 0;
  std::uint32_t bytes = 0;
};

using AirItem = std::variant<Transmission, Grant>;

// The result of a transmission, or of a grant that was not needed.
struct HarqFeedback {
  std::uint16_t rnti = 0;
  std::uint8_t harq = 0;
  Direction direction = Direction::kDown;
  bool done = false;
};

// Between the uplink's RLC and the scheduler: a status that came in, or one to be sent.
struct StatusTransfer {
  enum class Kind : std::uint8_t { kReceived, kToSend };
  Kind kind = Kind::kReceived;
  Status status;
};

// The item's id in the truth of a queue operation.
inline std::uint64_t item_id(const Packet& packet) {
  return packet.id;
}
inline std::uint64_t item_id(const Transmission& transmission) {
  return transmission.hit;
}
inline std::uint64_t item_id(const AirItem& item) {
  const auto* transmission = std::get_if<Transmission>(&item);
  return transmission != nullptr ? transmission->hit : 0;
}
inline std::uint64_t item_id(const HarqFeedback&) {
  return 0;
}
inline std::uint64_t item_id(const StatusTransfer& transfer) {
  return transfer.status.hit;
}

}  // namespace sojourn::basestation
