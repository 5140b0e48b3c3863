#include "tests/basestation/uplink_mac.h"

#include "tests/basestation/points.h"

namespace sojourn::basestation {
namespace {

constexpr std::size_t kUplinkMacBatch = 64;
constexpr std::uint64_t kUplinkMacTickNs = 5 * kMillisecond;

Origin from(const RxSdu& sdu) {
  Origin origin;
  for (const Segment& segment : sdu.segments) {
    origin.parents.push_back(segment.hit);
    origin.pieces.push_back(segment.packet.piece(segment.so, segment.end()));
  }
  return origin;
}

std::uint32_t received_bytes(const RxSdu& sdu) {
  std::uint32_t sum = 0;
  for (const RxSdu::Interval& interval : sdu.intervals) sum += interval.to - interval.from;
  return sum;
}

}  // namespace

UplinkMac::UplinkMac(Context context, Queue<Transmission>& input, Queue<Packet>& pdcp,
                     Queue<StatusTransfer>& statuses)
    : context_(context),
      input_(input),
      pdcp_(pdcp),
      statuses_(statuses),
      faults_(context.faults("mac.demux")) {
  for (std::uint32_t bearer = 0; bearer < context.config.bearer_count(); ++bearer) {
    rlc_.push_back(make_rlc_rx(context.config.drb_of(bearer)));
  }
}

void UplinkMac::run() {
  std::vector<Transmission> transmissions;
  std::uint64_t next_tick = now_ns() + kUplinkMacTickNs;
  while (input_.take(transmissions, kUplinkMacBatch, next_tick, context_.log)) {
    const std::uint64_t now = now_ns();
    for (const Transmission& transmission : transmissions) {
      faults_.work();
      demultiplex(transmission, now);
    }
    if (now >= next_tick) {
      next_tick = now + kUplinkMacTickNs;
      tick(now);
    }
    pdcp_.put(reassembled_, context_.log);
    reassembled_.clear();
  }
}

void UplinkMac::demultiplex(const Transmission& transmission, std::uint64_t now) {
  const TransportBlock& block = *transmission.block;
  for (const Status& sent : block.statuses) {
    Status status = sent;
    status.hit = transmission.hit;
    status.hit =
        SJ_HIT(context_.log, basestation::from(status), "U mac.demux--rlc.ctrl.am",
               "len:rnti:drb.slot", status.bytes(), status.rnti, status.drb, transmission.slot);
    statuses_.put({StatusTransfer::Kind::kReceived, std::move(status)}, context_.log);
  }
  for (const Segment& segment : block.segments) receive(segment, transmission, now);
}

void UplinkMac::receive(Segment segment, const Transmission& transmission, std::uint64_t now) {
  Log& log = context_.log;
  const Packet& packet = segment.packet;
  segment.hit = transmission.hit;
  if (is_am(packet.drb)) {
    segment.hit = SJ_HIT(log, basestation::from(segment), "U mac.demux--rlc.rx.am",
                         "len:rnti:drb.rsn.so.slot", segment.len, packet.rnti, packet.drb,
                         segment.rsn, segment.so, transmission.slot);
  } else {
    segment.hit = SJ_HIT(log, basestation::from(segment), "U mac.demux--rlc.rx.um",
                         "len:rnti:drb.rsn.so.slot", segment.len, packet.rnti, packet.drb,
                         segment.rsn, segment.so, transmission.slot);
  }
  const std::uint32_t bearer = context_.config.bearer_index(packet.rnti, packet.drb);
  rlc_[bearer]->receive(segment, now, *this);
  send_status(bearer, now);
}

void UplinkMac::tick(std::uint64_t now) {
  for (std::uint32_t bearer = 0; bearer < rlc_.size(); ++bearer) {
    rlc_[bearer]->tick(now, *this);
    send_status(bearer, now);
  }
}

void UplinkMac::send_status(std::uint32_t bearer, std::uint64_t now) {
  auto status = rlc_[bearer]->take_status(now);
  if (!status) return;
  status->rnti = context_.config.rnti_of(bearer);
  status->drb = context_.config.drb_of(bearer);
  statuses_.put({StatusTransfer::Kind::kToSend, std::move(*status)}, context_.log);
}

void UplinkMac::delivered(const RxSdu& sdu) {
  Log& log = context_.log;
  Packet packet = sdu.packet();
  if (is_am(packet.drb)) {
    packet.hit = SJ_HIT(log, from(sdu), "U rlc.rx.am--pdcp.rx", "len:rnti:drb.rsn.psn",
                        packet.pdu_bytes(), packet.rnti, packet.drb, sdu.rsn, packet.psn);
  } else {
    packet.hit = SJ_HIT(log, from(sdu), "U rlc.rx.um--pdcp.rx", "len:rnti:drb.rsn.psn",
                        packet.pdu_bytes(), packet.rnti, packet.drb, sdu.rsn, packet.psn);
  }
  reassembled_.push_back(packet);
}

void UplinkMac::given_up(const RxSdu& sdu) {
  const Packet& packet = sdu.packet();
  if (is_am(packet.drb)) {
    for (const Segment& segment : sdu.segments) duplicate(segment);
    return;
  }
  SJ_HIT(context_.log, from(sdu), "U rlc.rx.um--drop", "len:rnti:drb.rsn", received_bytes(sdu),
         packet.rnti, packet.drb, sdu.rsn);
  context_.log.dropped(packet.id, Direction::kUp, Place::kRlcRxUm);
}

void UplinkMac::duplicate(const Segment& segment) {
  SJ_HIT(context_.log, basestation::from(segment), "U rlc.rx.am--drop", "len:rnti:drb.rsn.so",
         segment.len, segment.packet.rnti, segment.packet.drb, segment.rsn, segment.so);
}

}  // namespace sojourn::basestation
