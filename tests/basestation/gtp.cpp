#include "tests/basestation/gtp.h"

#include <cstring>

#include <arpa/inet.h>

#include "tests/basestation/points.h"

namespace sojourn::basestation {
namespace {

constexpr std::size_t kGtpBatch = 64;
constexpr std::uint8_t kFlags = 0x32;  // version 1, GTP, with sequence number
constexpr std::uint8_t kGPdu = 0xff;
constexpr std::size_t kMandatoryBytes = 8;  // the header that the length field does not count
constexpr std::uint64_t kGtpPaceNs = kMillisecond / 2;  // wakeups cost more than packets

std::size_t largest_message(const Config& config) {
  return kGtpHeaderBytes + config.size.largest();
}

template <typename Value>
void store(std::span<std::byte> message, std::size_t at, Value value) {
  std::memcpy(&message[at], &value, sizeof value);
}

template <typename Value>
Value load(std::span<const std::byte> message, std::size_t at) {
  Value value;
  std::memcpy(&value, &message[at], sizeof value);
  return value;
}

}  // namespace

void write_gtp(std::span<std::byte> message, std::uint32_t teid, const Packet& packet) {
  store(message, 0, kFlags);
  store(message, 1, kGPdu);
  store(message, 2, htons(static_cast<std::uint16_t>(message.size() - kMandatoryBytes)));
  store(message, 4, htonl(teid));
  store(message, 8, htons(packet.gsn));
  store(message, 10, std::uint16_t{0});  // no N-PDU number, no extension
  store(message, kGtpHeaderBytes, packet.id);
  store(message, kGtpHeaderBytes + 8, packet.created_ns);
}

std::optional<ReceivedGtp> read_gtp(std::span<const std::byte> message) {
  if (message.size() < kGtpHeaderBytes + kMinPacketBytes ||
      load<std::uint8_t>(message, 0) != kFlags || load<std::uint8_t>(message, 1) != kGPdu ||
      ntohs(load<std::uint16_t>(message, 2)) != message.size() - kMandatoryBytes) {
    return std::nullopt;
  }
  ReceivedGtp received;
  received.teid = ntohl(load<std::uint32_t>(message, 4));
  received.packet.gsn = ntohs(load<std::uint16_t>(message, 8));
  received.packet.bytes = static_cast<std::uint32_t>(message.size() - kGtpHeaderBytes);
  received.packet.id = load<PacketId>(message, kGtpHeaderBytes);
  received.packet.created_ns = load<std::uint64_t>(message, kGtpHeaderBytes + 8);
  return received;
}

TrafficSource::TrafficSource(Context context, UdpSocket socket)
    : context_(context),
      socket_(std::move(socket)),
      batch_(kGtpBatch, largest_message(context.config)),
      next_gsn_(context.config.bearer_count()) {}

void TrafficSource::run() {
  Arrivals arrivals(context_.config, Direction::kDown, now_ns());
  while (context_.flags.offering.load(std::memory_order_relaxed)) {
    const std::uint64_t now = now_ns();
    while (arrivals.due_ns() <= now && batch_.filled() < batch_.capacity()) {
      Packet packet = arrivals.take();
      packet.created_ns = now;
      const std::uint32_t bearer = context_.config.bearer_index(packet.rnti, packet.drb);
      packet.gsn = next_gsn_[bearer]++;
      context_.log.created(packet, Direction::kDown);
      write_gtp(batch_.add(kGtpHeaderBytes + packet.bytes), kFirstTeid + bearer, packet);
    }
    const bool more = batch_.filled() == batch_.capacity();
    if (batch_.filled() != 0) batch_.send(socket_);
    if (!more) {
      const std::uint64_t next = std::max(arrivals.due_ns(), now + kGtpPaceNs);
      sleep_until_ns(std::min(next, now + 20 * kMillisecond));
    }
  }
}

GtpReceiver::GtpReceiver(Context context, UdpSocket socket, Queue<Packet>& pdcp)
    : context_(context),
      socket_(std::move(socket)),
      pdcp_(pdcp),
      batch_(kGtpBatch, largest_message(context.config) + 1),  // a longer one shows as malformed
      faults_(context.faults("ip.in")) {}

void GtpReceiver::run() {
  while (context_.flags.working.load(std::memory_order_relaxed)) {
    batch_.receive(socket_);
    packets_.clear();
    for (std::size_t index = 0; index < batch_.filled(); ++index) receive(batch_.message(index));
    const std::size_t taken = pdcp_.offer(packets_, context_.log);
    for (Packet& packet : std::span(packets_).subspan(taken)) {
      SJ_HIT(context_.log, from(packet), "D pdcp.in--drop", "len:rnti:drb.gsn", packet.bytes,
             packet.rnti, packet.drb, packet.gsn);
      context_.log.dropped(packet.id, Direction::kDown, Place::kPdcpIn);
    }
  }
}

void GtpReceiver::receive(std::span<const std::byte> message) {
  auto received = read_gtp(message);
  if (!received || received->teid - kFirstTeid >= context_.config.bearer_count()) {
    ++malformed_;
    return;
  }
  faults_.work();
  const std::uint32_t bearer = received->teid - kFirstTeid;
  Packet& packet = received->packet;
  packet.rnti = context_.config.rnti_of(bearer);
  packet.drb = context_.config.drb_of(bearer);
  note_missing(packet.id);
  const auto origin = [&] {
    Origin input = from(packet);
    input.parents.clear();
    return input;
  };
  packet.hit = SJ_HIT(context_.log, origin(), "D ip.in--pdcp.in", "len:rnti:drb.gsn", packet.bytes,
                      packet.rnti, packet.drb, packet.gsn);
  packets_.push_back(packet);
}

void GtpReceiver::note_missing(PacketId before) {
  for (; next_id_ < before; ++next_id_) {
    context_.log.dropped(next_id_, Direction::kDown, Place::kSocket);
  }
  next_id_ = before + 1;
}

GtpSender::GtpSender(Context context, UdpSocket socket, Queue<Packet>& input)
    : context_(context),
      socket_(std::move(socket)),
      input_(input),
      batch_(kGtpBatch, largest_message(context.config)),
      faults_(context.faults("gtp.tx")) {}

void GtpSender::run() {
  std::vector<Packet> packets;
  while (input_.take(packets, kGtpBatch, now_ns() + 100 * kMillisecond, context_.log)) {
    send(packets);
  }
}

void GtpSender::send(std::span<Packet> packets) {
  for (Packet& packet : packets) {
    faults_.work();
    const std::uint32_t bearer = context_.config.bearer_index(packet.rnti, packet.drb);
    write_gtp(batch_.add(kGtpHeaderBytes + packet.bytes), kFirstTeid + bearer, packet);
    packet.hit = SJ_HIT(context_.log, from(packet), "U gtp.tx--ip.out", "len:rnti:drb.gsn",
                        packet.bytes, packet.rnti, packet.drb, packet.gsn);
  }
  const std::size_t sent = batch_.send(socket_);
  const std::uint64_t sent_ns = now_ns();
  for (std::size_t index = 0; index < packets.size(); ++index) {
    if (index < sent) {
      context_.log.delivered(packets[index], Direction::kUp, sent_ns);
    } else {
      context_.log.dropped(packets[index].id, Direction::kUp, Place::kIpOut);
    }
  }
}

TrafficSink::TrafficSink(Context context, UdpSocket socket)
    : context_(context),
      socket_(std::move(socket)),
      batch_(kGtpBatch, largest_message(context.config) + 1) {}

void TrafficSink::run() {
  while (context_.flags.working.load(std::memory_order_relaxed)) {
    batch_.receive(socket_);
    for (std::size_t index = 0; index < batch_.filled(); ++index) {
      if (read_gtp(batch_.message(index))) ++received_;
    }
    if (batch_.filled() < batch_.capacity()) sleep_until_ns(now_ns() + kGtpPaceNs);
  }
}

}  // namespace sojourn::basestation
