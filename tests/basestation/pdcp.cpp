#include "tests/basestation/pdcp.h"

#include "tests/basestation/points.h"

namespace sojourn::basestation {
namespace {

constexpr std::size_t kPdcpBatch = 64;
constexpr std::uint64_t kReorderingNs = 200 * kMillisecond;  // longer than RLC's retransmissions
constexpr std::uint64_t kPdcpTickNs = 10 * kMillisecond;

}  // namespace

DownlinkPdcp::DownlinkPdcp(Context context, Queue<Packet>& input, std::deque<Queue<Packet>>& rlc)
    : context_(context),
      input_(input),
      rlc_(rlc),
      faults_(context.faults("pdcp.in")),
      rlc_faults_(context.faults("rlc.tx")),
      next_psn_(context.config.bearer_count()) {}

void DownlinkPdcp::run() {
  std::vector<Packet> packets;
  while (input_.take(packets, kPdcpBatch, now_ns() + 100 * kMillisecond, context_.log)) {
    for (Packet& packet : packets) process(packet);
  }
}

void DownlinkPdcp::process(Packet& packet) {
  Log& log = context_.log;
  faults_.work();
  if (faults_.drop()) {
    SJ_HIT(log, from(packet), "D pdcp.in--drop", "len:rnti:drb.gsn", packet.bytes, packet.rnti,
           packet.drb, packet.gsn);
    log.dropped(packet.id, Direction::kDown, Place::kPdcpIn);
    return;
  }
  const std::uint32_t bearer = context_.config.bearer_index(packet.rnti, packet.drb);
  packet.psn = next_psn_[bearer];
  next_psn_[bearer] = (packet.psn + 1) & ((1U << context_.config.pdcp_sn_bits) - 1);
  packet.hit = SJ_HIT(log, from(packet), "D pdcp.in--pdcp.tx", "len:rnti:drb.gsn.psn", packet.bytes,
                      packet.rnti, packet.drb, packet.gsn, packet.psn);

  packet.header_bytes = context_.config.pdu_header_bytes();
  if (is_am(packet.drb)) {
    packet.hit = SJ_HIT(log, from(packet), "D pdcp.tx--rlc.tx.am", "len:rnti:drb.psn",
                        packet.pdu_bytes(), packet.rnti, packet.drb, packet.psn);
  } else {
    packet.hit = SJ_HIT(log, from(packet), "D pdcp.tx--rlc.tx.um", "len:rnti:drb.psn",
                        packet.pdu_bytes(), packet.rnti, packet.drb, packet.psn);
  }
  if (rlc_faults_.drop() || !rlc_[bearer].offer(packet, log)) drop_in_rlc(packet);
}

void DownlinkPdcp::drop_in_rlc(const Packet& packet) {
  Log& log = context_.log;
  if (is_am(packet.drb)) {
    SJ_HIT(log, from(packet), "D rlc.tx.am--drop", "len:rnti:drb.psn", packet.pdu_bytes(),
           packet.rnti, packet.drb, packet.psn);
  } else {
    SJ_HIT(log, from(packet), "D rlc.tx.um--drop", "len:rnti:drb.psn", packet.pdu_bytes(),
           packet.rnti, packet.drb, packet.psn);
  }
  log.dropped(packet.id, Direction::kDown, is_am(packet.drb) ? Place::kRlcTxAm : Place::kRlcTxUm);
}

bool Reordering::receive(const Packet& packet, std::uint64_t now, std::vector<Packet>& out) {
  // Half of the numbers are ahead of the next one, half behind.
  std::uint32_t ahead = (packet.psn - next_) & (modulus_ - 1);
  if (ahead >= modulus_ / 2) return false;
  if (ahead >= modulus_ / 4) {
    give_up_at_ = next_ + ahead;
    give_up(out);
    ahead = 0;
    if (next_ != give_up_at_) return false;  // it was there before
  }
  if (ahead == 0 && waiting_.empty()) {
    ++next_;
    out.push_back(packet);
    return true;
  }
  if (!waiting_.emplace(next_ + ahead, packet).second) return false;
  deliver_in_order(out);
  if (timer_ns_ != 0 && next_ >= give_up_at_) timer_ns_ = 0;
  if (timer_ns_ == 0) restart_timer(now);
  return true;
}

void Reordering::tick(std::uint64_t now, std::vector<Packet>& out) {
  if (timer_ns_ == 0 || now < timer_ns_) return;
  give_up(out);
  restart_timer(now);
}

void Reordering::give_up(std::vector<Packet>& out) {
  while (!waiting_.empty() && waiting_.begin()->first < give_up_at_) {
    next_ = waiting_.begin()->first;
    deliver_in_order(out);
  }
  next_ = std::max(next_, give_up_at_);
  deliver_in_order(out);
}

void Reordering::deliver_in_order(std::vector<Packet>& out) {
  while (!waiting_.empty() && waiting_.begin()->first == next_) {
    out.push_back(waiting_.begin()->second);
    waiting_.erase(waiting_.begin());
    ++next_;
  }
}

void Reordering::restart_timer(std::uint64_t now) {
  timer_ns_ = waiting_.empty() ? 0 : now + kReorderingNs;
  if (!waiting_.empty()) give_up_at_ = waiting_.rbegin()->first + 1;
}

UplinkPdcp::UplinkPdcp(Context context, Queue<Packet>& input, Queue<Packet>& gtp)
    : context_(context),
      input_(input),
      gtp_(gtp),
      faults_(context.faults("pdcp.rx")),
      reordering_(context.config.bearer_count(), Reordering(context.config.pdcp_sn_bits)),
      next_gsn_(context.config.bearer_count()) {}

void UplinkPdcp::run() {
  std::vector<Packet> packets;
  std::uint64_t next_tick = now_ns() + kPdcpTickNs;
  while (input_.take(packets, kPdcpBatch, next_tick, context_.log)) {
    const std::uint64_t now = now_ns();
    for (Packet& packet : packets) process(packet, now);
    if (now >= next_tick) {
      next_tick = now + kPdcpTickNs;
      for (Reordering& bearer : reordering_) bearer.tick(now, in_order_);
    }
    hand_over();
  }
}

void UplinkPdcp::process(Packet& packet, std::uint64_t now) {
  faults_.work();
  const std::uint32_t bearer = context_.config.bearer_index(packet.rnti, packet.drb);
  if (!faults_.drop() && reordering_[bearer].receive(packet, now, in_order_)) return;
  SJ_HIT(context_.log, from(packet), "U pdcp.rx--drop", "len:rnti:drb.psn", packet.pdu_bytes(),
         packet.rnti, packet.drb, packet.psn);
  context_.log.dropped(packet.id, Direction::kUp, Place::kPdcpRx);
}

void UplinkPdcp::hand_over() {
  for (Packet& packet : in_order_) {
    packet.gsn = next_gsn_[context_.config.bearer_index(packet.rnti, packet.drb)]++;
    packet.hit = SJ_HIT(context_.log, from(packet), "U pdcp.rx--gtp.tx", "len:rnti:drb.psn.gsn",
                        packet.bytes, packet.rnti, packet.drb, packet.psn, packet.gsn);
  }
  gtp_.put(in_order_, context_.log);
  in_order_.clear();
}

}  // namespace sojourn::basestation
