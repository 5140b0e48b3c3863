#include "tests/basestation/air.h"

#include <algorithm>

namespace sojourn::basestation {
namespace {

constexpr std::size_t kAirBatch = 128;
constexpr std::size_t kUeQueuePackets = 512;
constexpr std::uint64_t kAirTickNs = 5 * kMillisecond;
constexpr std::uint64_t kAirPaceNs = kMillisecond / 2;

}  // namespace

Air::Air(Context context, Queue<AirItem>& input, Queue<HarqFeedback>& feedback,
         Queue<Transmission>& phy, std::vector<BufferStatus>& buffers)
    : context_(context),
      input_(input),
      feedback_(feedback),
      phy_(phy),
      buffers_(buffers),
      channel_(context.config.seed ^ 0x616972U),
      next_psn_(context.config.bearer_count()),
      ues_(context.config.ues) {
  const Config& config = context.config;
  for (std::uint32_t bearer = 0; bearer < config.bearer_count(); ++bearer) {
    Ue& ue = ues_[bearer / config.bearers];
    Queue<Packet>& queue = rlc_queues_.emplace_back(QueuePlace{.capacity = kUeQueuePackets});
    const std::uint8_t drb = config.drb_of(bearer);
    ue.bearers.push_back({make_rlc_tx(drb, queue, context.log), std::nullopt});
    ue.rlc_rx.push_back(make_rlc_rx(drb));
  }
}

void Air::run() {
  Arrivals arrivals(context_.config, Direction::kUp, now_ns());
  std::vector<AirItem> items;
  std::uint64_t next_tick = now_ns() + kAirTickNs;
  now_ = now_ns();
  for (;;) {
    const std::uint64_t wake =
        std::clamp(arrivals.due_ns(), now_ + kAirPaceNs, next_tick + kAirPaceNs);
    if (!input_.take(items, kAirBatch, wake, context_.log)) return;
    now_ = now_ns();
    if (context_.flags.offering.load(std::memory_order_relaxed)) offer_traffic(arrivals);
    for (const AirItem& item : items) {
      if (const auto* transmission = std::get_if<Transmission>(&item)) {
        receive(*transmission);
      } else {
        use(std::get<Grant>(item));
      }
    }
    if (now_ >= next_tick) {
      next_tick = now_ + kAirTickNs;
      tick();
    }
  }
}

void Air::offer_traffic(Arrivals& arrivals) {
  while (arrivals.due_ns() <= now_) {
    Packet packet = arrivals.take();
    packet.created_ns = now_;
    packet.header_bytes = context_.config.pdu_header_bytes();
    context_.log.created(packet, Direction::kUp);
    const std::uint32_t bearer = context_.config.bearer_index(packet.rnti, packet.drb);
    packet.psn = next_psn_[bearer];
    if (!rlc_queues_[bearer].offer(packet, context_.log)) {
      context_.log.dropped(packet.id, Direction::kUp, Place::kUe);
      continue;
    }
    next_psn_[bearer] = (packet.psn + 1) & ((1U << context_.config.pdcp_sn_bits) - 1);
    buffers_[bearer / context_.config.bearers].has_data.store(true, std::memory_order_relaxed);
  }
}

void Air::receive(const Transmission& transmission) {
  const TransportBlock& block = *transmission.block;
  const bool received = !lost();
  feedback_.put(
      {.rnti = block.rnti, .harq = block.harq, .direction = Direction::kDown, .done = received},
      context_.log);
  if (!received) return;
  Ue& receiver = ue(block.rnti);
  for (const Status& status : block.statuses) {
    receiver.bearers[status.drb - 1U].tx->on_status(status, progress_);
    report_progress();
  }
  for (const Segment& segment : block.segments) {
    const std::size_t bearer = segment.packet.drb - 1U;
    receiver.rlc_rx[bearer]->receive(segment, now_, *this);
    take_status(receiver, block.rnti, bearer);
  }
  report_buffer(block.rnti);
}

void Air::use(const Grant& grant) {
  if (grant.round == 0) {
    Ue& sender = ue(grant.rnti);
    auto block = std::make_shared<TransportBlock>();
    block->rnti = grant.rnti;
    block->harq = grant.harq;
    block->slot = grant.slot;
    multiplex(
        *block, sender.bearers, sender.turn++, grant.bytes, now_, [](Status&) {},
        [](Segment&, RlcTx&) {});
    const bool empty = block->empty();
    sender.uplink[grant.harq] = std::move(block);
    report_buffer(grant.rnti);
    buffers_[static_cast<std::size_t>(grant.rnti - kFirstRnti)].grants_seen.fetch_add(
        1, std::memory_order_release);
    if (empty) {
      feedback_.put(
          {.rnti = grant.rnti, .harq = grant.harq, .direction = Direction::kUp, .done = true},
          context_.log);
      return;
    }
  }
  send(grant);
}

void Air::send(const Grant& grant) {
  phy_.put({.block = ue(grant.rnti).uplink[grant.harq],
            .slot = grant.slot,
            .round = grant.round,
            .corrupt = lost(),
            .hit = 0},
           context_.log);
}

void Air::tick() {
  for (std::size_t index = 0; index < ues_.size(); ++index) {
    Ue& ue = ues_[index];
    const auto rnti = static_cast<std::uint16_t>(kFirstRnti + index);
    for (std::size_t bearer = 0; bearer < ue.bearers.size(); ++bearer) {
      ue.rlc_rx[bearer]->tick(now_, *this);
      take_status(ue, rnti, bearer);
      ue.bearers[bearer].tx->tick(now_, progress_);
    }
    report_progress();
    report_buffer(rnti);
  }
}

void Air::take_status(Ue& ue, std::uint16_t rnti, std::size_t bearer) {
  auto status = ue.rlc_rx[bearer]->take_status(now_);
  if (!status) return;
  status->rnti = rnti;
  status->drb = static_cast<std::uint8_t>(bearer + 1);
  ue.bearers[bearer].status = std::move(*status);
}

void Air::report_buffer(std::uint16_t rnti) {
  const bool has_data = std::ranges::any_of(ue(rnti).bearers, &MuxBearer::has_data);
  buffers_[static_cast<std::size_t>(rnti - kFirstRnti)].has_data.store(has_data,
                                                                       std::memory_order_relaxed);
}

void Air::report_progress() {
  for (const RlcProgress::Sdu& sdu : progress_.given_up) {
    context_.log.dropped(sdu.packet.id, Direction::kUp, Place::kUe);
  }
  progress_.clear();
}

std::uint64_t Air::rlc_retransmissions() const {
  std::uint64_t sum = 0;
  for (const Ue& ue : ues_) {
    for (const MuxBearer& bearer : ue.bearers) sum += bearer.tx->retransmissions();
  }
  return sum;
}

void Air::delivered(const RxSdu& sdu) {
  context_.log.delivered(sdu.packet(), Direction::kDown, now_);
}

// A drop by the UE was counted where the base station lost it.
void Air::given_up(const RxSdu& /*sdu*/) {}

void Air::duplicate(const Segment& /*segment*/) {}

}  // namespace sojourn::basestation
