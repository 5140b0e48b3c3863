// GTP-U at both ends of the base station: the traffic source and the sink that play the core
// network, and the stages dl-gtp (socket to PDCP) and ul-gtp (PDCP to socket). Each class is one
// thread's.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "tests/basestation/arrivals.h"
#include "tests/basestation/context.h"
#include "tests/basestation/queue.h"
#include "tests/basestation/udp.h"

namespace sojourn::basestation {

inline constexpr std::size_t kGtpHeaderBytes = 12;  // with a sequence number
inline constexpr std::uint32_t kFirstTeid = 0x1000;

// A G-PDU. User packets begin with the id and the time that their source gave them.
void write_gtp(std::span<std::byte> message, std::uint32_t teid, const Packet& packet);
// Nothing if it is no G-PDU with a Packet; rnti and drb are not known here.
struct ReceivedGtp {
  std::uint32_t teid = 0;
  Packet packet;
};
std::optional<ReceivedGtp> read_gtp(std::span<const std::byte> message);

// Thread "traffic": sends the downlink's packets when they are due.
class TrafficSource {
 public:
  TrafficSource(Context context, UdpSocket socket);
  void run();

 private:
  Context context_;
  UdpSocket socket_;
  MessageBatch batch_;
  std::vector<std::uint16_t> next_gsn_;  // of each bearer
};

// Thread "dl-gtp". The socket keeps the order, so a gap in the ids is a drop by the kernel.
class GtpReceiver {
 public:
  GtpReceiver(Context context, UdpSocket socket, Queue<Packet>& pdcp);
  void run();

  const UdpSocket& socket() const { return socket_; }
  std::uint64_t malformed() const { return malformed_; }

 private:
  void receive(std::span<const std::byte> message);
  void note_missing(PacketId before);

  Context context_;
  UdpSocket socket_;
  Queue<Packet>& pdcp_;
  MessageBatch batch_;
  StageFaults faults_;
  std::vector<Packet> packets_;
  PacketId next_id_ = 1;
  std::uint64_t malformed_ = 0;
};

// Thread "ul-gtp".
class GtpSender {
 public:
  GtpSender(Context context, UdpSocket socket, Queue<Packet>& input);
  void run();

 private:
  void send(std::span<Packet> packets);

  Context context_;
  UdpSocket socket_;
  Queue<Packet>& input_;
  MessageBatch batch_;
  StageFaults faults_;
};

// Thread "sink": the core network's end of the uplink.
class TrafficSink {
 public:
  TrafficSink(Context context, UdpSocket socket);
  void run();

  const UdpSocket& socket() const { return socket_; }
  std::uint64_t received() const { return received_; }

 private:
  Context context_;
  UdpSocket socket_;
  MessageBatch batch_;
  std::uint64_t received_ = 0;
};

}  // namespace sojourn::basestation
