#include "tests/basestation/mac.h"

#include <algorithm>

#include "tests/basestation/points.h"

namespace sojourn::basestation {
namespace {

constexpr double kHeadroom = 1.6;              // the cell's capacity over the offered traffic
constexpr double kSmallestMeanGrant = 400;     // bytes
constexpr std::uint32_t kSmallestGrant = 128;  // a full status PDU fits
constexpr std::uint64_t kMaxSlotsBehind = 16;

double mean_grant(const Config& config, std::uint32_t rate) {
  const double bytes = config.size.mean() + config.pdu_header_bytes() + 2.0 * kPduHeaderBytes;
  const double bytes_per_slot = rate * bytes * config.slot_us / 1e6;
  return std::max(kSmallestMeanGrant, kHeadroom * bytes_per_slot / config.ues_per_slot());
}

std::uint8_t next_process(std::uint8_t harq) {
  return static_cast<std::uint8_t>((harq + 1) % kHarqProcesses);
}

}  // namespace

Mac::Mac(Context context, MacQueues queues, std::vector<BufferStatus>& buffers)
    : context_(context),
      queues_(queues),
      buffers_(buffers),
      faults_(context.faults("mac")),
      rlc_faults_(context.faults("rlc.tx")),
      channel_(context.config.seed ^ 0x63656c6cU),
      mean_grant_dl_(mean_grant(context.config, context.config.rate_dl)),
      mean_grant_ul_(mean_grant(context.config, context.config.rate_ul)),
      ues_(context.config.ues) {
  const Config& config = context.config;
  for (std::uint32_t bearer = 0; bearer < config.bearer_count(); ++bearer) {
    Ue& ue = ues_[bearer / config.bearers];
    ue.rnti = config.rnti_of(bearer);
    ue.bearers.push_back(
        {make_rlc_tx(config.drb_of(bearer), queues_.rlc[bearer], context.log), std::nullopt});
  }
}

void Mac::run() {
  const std::uint64_t slot_ns = context_.config.slot_ns();
  std::uint64_t due_ns = now_ns();
  while (context_.flags.working.load(std::memory_order_relaxed)) {
    due_ns += slot_ns;
    ++slot_;
    sleep_until_ns(due_ns);
    now_ = now_ns();
    ++counters_.slots;
    if (const std::uint64_t behind = (now_ - due_ns) / slot_ns; behind != 0) {
      ++counters_.late_slots;
      if (behind > kMaxSlotsBehind) {
        due_ns += behind * slot_ns;
        slot_ += static_cast<std::uint32_t>(behind);
      }
    }
    run_slot();
  }
}

void Mac::run_slot() {
  read_feedback();
  read_statuses();
  for (Ue& ue : ues_) {
    for (MuxBearer& bearer : ue.bearers) bearer.tx->tick(now_, progress_);
  }
  report(progress_);
  schedule_downlink();
  schedule_uplink();
}

void Mac::read_feedback() {
  queues_.feedback.take(feedback_, SIZE_MAX, 0, context_.log);
  for (const HarqFeedback& feedback : feedback_) {
    Ue& sender = ue(feedback.rnti);
    if (feedback.direction == Direction::kDown) {
      read_down_feedback(sender, feedback);
    } else {
      read_up_feedback(sender, feedback);
    }
  }
}

void Mac::read_down_feedback(Ue& ue, const HarqFeedback& feedback) {
  DownProcess& process = ue.down[feedback.harq];
  if (feedback.done) {
    process = {};
  } else if (process.round + 1 < kHarqRounds) {
    process.retransmit = true;
  } else {
    lose(process);
  }
}

void Mac::read_up_feedback(Ue& ue, const HarqFeedback& feedback) const {
  UpProcess& process = ue.up[feedback.harq];
  if (feedback.done || process.round + 1 >= kHarqRounds) {
    process = {};
  } else {
    process.retransmit = true;
  }
}

// The block's contents are lost: unacknowledged packets for ever, others until RLC notices.
void Mac::lose(DownProcess& process) {
  const TransportBlock& block = *process.block;
  Origin origin = context_.log.active() ? from(block) : Origin{};
  origin.parents = {block.hit};
  SJ_HIT(context_.log, origin, "D mac.harq.down--drop", "len:rnti:harq.slot", block.bytes,
         block.rnti, block.harq, block.slot);
  for (const Segment& segment : block.segments) {
    if (is_am(segment.packet.drb)) continue;
    context_.log.dropped(segment.packet.id, Direction::kDown, Place::kMacHarqDown);
  }
  ++counters_.harq_lost;
  process = {};
}

void Mac::read_statuses() {
  queues_.statuses.take(statuses_, SIZE_MAX, 0, context_.log);
  for (StatusTransfer& transfer : statuses_) {
    MuxBearer& bearer = ue(transfer.status.rnti).bearers[transfer.status.drb - 1U];
    if (transfer.kind == StatusTransfer::Kind::kReceived) {
      bearer.tx->on_status(transfer.status, progress_);
    } else {
      bearer.status = std::move(transfer.status);  // a newer status replaces an older one
    }
  }
}

void Mac::report(const RlcProgress& progress) {
  Log& log = context_.log;
  for (const RlcProgress::Sdu& sdu : progress.acknowledged) {
    SJ_HIT(log, from(sdu.packet), "D rlc.tx.am--rlc.ack", "len:rnti:drb.psn.rsn",
           sdu.packet.pdu_bytes(), sdu.packet.rnti, sdu.packet.drb, sdu.packet.psn, sdu.rsn);
  }
  for (const RlcProgress::Sdu& sdu : progress.given_up) {
    SJ_HIT(log, from(sdu.packet), "D rlc.tx.am--drop", "len:rnti:drb.psn", sdu.packet.pdu_bytes(),
           sdu.packet.rnti, sdu.packet.drb, sdu.packet.psn);
    log.dropped(sdu.packet.id, Direction::kDown, Place::kRlcTxAm);
  }
  progress_.clear();
}

void Mac::schedule_downlink() {
  const std::size_t start = first_dl_;
  std::uint32_t served = 0;
  for (std::size_t turn = 0; turn < ues_.size() && served < context_.config.ues_per_slot();
       ++turn) {
    const std::size_t index = (start + turn) % ues_.size();
    if (!send_again(ues_[index]) && !send_new(ues_[index])) continue;
    ++served;
    first_dl_ = index + 1;
  }
}

bool Mac::send_again(Ue& ue) {
  const auto process = std::ranges::find(ue.down, true, &DownProcess::retransmit);
  if (process == ue.down.end()) return false;
  ++process->round;
  ++counters_.harq_retransmissions;
  transmit(*process);
  return true;
}

bool Mac::send_new(Ue& ue) {
  if (std::ranges::none_of(ue.bearers, &MuxBearer::has_data)) return false;
  DownProcess& process = ue.down[ue.next_down];
  if (process.block) return false;
  auto block = build(ue, ue.next_down);
  if (block->empty()) return false;
  process.block = std::move(block);
  ue.next_down = next_process(ue.next_down);
  faults_.work();
  ++counters_.blocks;
  if (faults_.drop()) {
    lose(process);
  } else {
    transmit(process);
  }
  return true;
}

std::shared_ptr<TransportBlock> Mac::build(Ue& ue, std::uint8_t harq) {
  auto block = std::make_shared<TransportBlock>();
  block->rnti = ue.rnti;
  block->harq = harq;
  block->slot = slot_;
  multiplex(
      *block, ue.bearers, ue.turn++, grant_bytes(mean_grant_dl_), now_,
      [&](Status& status) {
        status.hit = SJ_HIT(context_.log, born(), "D rlc.ctrl.am--mac.mux", "len:rnti:drb.slot",
                            status.bytes(), status.rnti, status.drb, slot_);
      },
      [&](Segment& segment, RlcTx& tx) { place_segment(segment, tx); });
  if (!block->empty()) {
    block->hit = SJ_HIT(context_.log, from(*block), "D mac.mux--mac.harq.down",
                        "len:rnti:harq.slot", block->bytes, block->rnti, block->harq, block->slot);
  }
  return block;
}

void Mac::place_segment(Segment& segment, RlcTx& tx) {
  Log& log = context_.log;
  const Packet& packet = segment.packet;
  rlc_faults_.work();
  const auto origin = [&] {
    Origin sdu = from(segment);
    sdu.parents = {packet.hit};
    sdu.repeat_of = segment.repeat_of;
    return sdu;
  };
  if (is_am(packet.drb)) {
    segment.hit = SJ_HIT(log, origin(), "D rlc.tx.am--rlc.seg.am", "len:rnti:drb.psn.rsn.so",
                         segment.len, packet.rnti, packet.drb, packet.psn, segment.rsn, segment.so);
    if (log.active()) tx.note_hit(segment);
    segment.hit = SJ_HIT(log, from(segment), "D rlc.seg.am--mac.mux", "len:rnti:drb.rsn.so.slot",
                         segment.len, packet.rnti, packet.drb, segment.rsn, segment.so, slot_);
  } else {
    segment.hit = SJ_HIT(log, origin(), "D rlc.tx.um--rlc.seg.um", "len:rnti:drb.psn.rsn.so",
                         segment.len, packet.rnti, packet.drb, packet.psn, segment.rsn, segment.so);
    segment.hit = SJ_HIT(log, from(segment), "D rlc.seg.um--mac.mux", "len:rnti:drb.rsn.so.slot",
                         segment.len, packet.rnti, packet.drb, segment.rsn, segment.so, slot_);
  }
}

void Mac::transmit(DownProcess& process) {
  const TransportBlock& block = *process.block;
  const auto origin = [&] {
    Origin again = from(block);
    again.parents = {block.hit};
    again.repeat_of = process.last_hit;
    return again;
  };
  process.retransmit = false;
  process.last_hit =
      SJ_HIT(context_.log, origin(), "D mac.harq.down--phy.out.proc", "len.round:rnti:harq.slot",
             block.bytes, process.round, block.rnti, block.harq, slot_);
  // The queue is never full: it has room for every HARQ process.
  queues_.phy.put({.block = process.block,
                   .slot = slot_,
                   .round = process.round,
                   .corrupt = false,
                   .hit = process.last_hit},
                  context_.log);
}

void Mac::schedule_uplink() {
  const std::size_t start = first_ul_;
  std::uint32_t served = 0;
  for (std::size_t turn = 0; turn < ues_.size() && served < context_.config.ues_per_slot();
       ++turn) {
    const std::size_t index = (start + turn) % ues_.size();
    if (!grant_again(ues_[index]) && !grant_new(ues_[index])) continue;
    ++served;
    first_ul_ = index + 1;
  }
}

bool Mac::grant_again(Ue& ue) {
  const auto process = std::ranges::find(ue.up, true, &UpProcess::retransmit);
  if (process == ue.up.end()) return false;
  process->retransmit = false;
  ++process->round;
  ++counters_.harq_retransmissions;
  grant(ue, static_cast<std::uint8_t>(process - ue.up.begin()));
  return true;
}

// One new grant at a time is on its way, so that the report that asked for it is not answered
// twice.
bool Mac::grant_new(Ue& ue) {
  const BufferStatus& buffer = buffers_[static_cast<std::size_t>(ue.rnti - kFirstRnti)];
  if (buffer.grants_seen.load(std::memory_order_acquire) != ue.grants ||
      !buffer.has_data.load(std::memory_order_relaxed)) {
    return false;
  }
  UpProcess& process = ue.up[ue.next_up];
  if (process.busy) return false;
  process.busy = true;
  process.bytes = grant_bytes(mean_grant_ul_);
  ++ue.grants;
  grant(ue, ue.next_up);
  ue.next_up = next_process(ue.next_up);
  return true;
}

void Mac::grant(Ue& ue, std::uint8_t harq) {
  const UpProcess& process = ue.up[harq];
  queues_.air.put(Grant{.rnti = ue.rnti,
                        .harq = harq,
                        .round = process.round,
                        .slot = slot_,
                        .bytes = process.bytes},
                  context_.log);
}

// The channel's quality: anything from a tenth of the mean to nearly twice the mean.
std::uint32_t Mac::grant_bytes(double mean) {
  std::uniform_real_distribution<double> share(0.1, 1.9);
  return std::max(kSmallestGrant, static_cast<std::uint32_t>(mean * share(channel_)));
}

std::uint64_t Mac::rlc_retransmissions() const {
  std::uint64_t sum = 0;
  for (const Ue& ue : ues_) {
    for (const MuxBearer& bearer : ue.bearers) sum += bearer.tx->retransmissions();
  }
  return sum;
}

}  // namespace sojourn::basestation
