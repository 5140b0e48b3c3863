#include "tests/basestation/phy.h"

#include "tests/basestation/points.h"

namespace sojourn::basestation {
namespace {

constexpr std::size_t kPhyBatch = 64;

Origin origin_of(const Transmission& transmission, HitId parent, HitId repeat_of) {
  Origin origin = from(*transmission.block);
  origin.parents.clear();
  if (parent != 0) origin.parents.push_back(parent);
  origin.repeat_of = repeat_of;
  return origin;
}

}  // namespace

DownlinkPhy::DownlinkPhy(Context context, Queue<Transmission>& input, Queue<AirItem>& air)
    : context_(context), input_(input), air_(air), faults_(context.faults("phy.out")) {}

void DownlinkPhy::run() {
  std::vector<Transmission> transmissions;
  std::vector<AirItem> sent;
  while (input_.take(transmissions, kPhyBatch, now_ns() + 100 * kMillisecond, context_.log)) {
    for (Transmission& transmission : transmissions) {
      faults_.work();
      const TransportBlock& block = *transmission.block;
      transmission.hit = SJ_HIT(context_.log, origin_of(transmission, transmission.hit, 0),
                                "D phy.out.proc--phy.out.ant", "len:rnti:slot", block.bytes,
                                block.rnti, transmission.slot);
      sent.emplace_back(std::move(transmission));
    }
    air_.put(sent, context_.log);
    sent.clear();
  }
}

UplinkPhy::UplinkPhy(Context context, Queue<Transmission>& input, Queue<Transmission>& mac,
                     Queue<HarqFeedback>& feedback)
    : context_(context),
      input_(input),
      mac_(mac),
      feedback_(feedback),
      faults_(context.faults("phy.in")),
      last_hit_(context.config.ues) {}

void UplinkPhy::run() {
  std::vector<Transmission> transmissions;
  while (input_.take(transmissions, kPhyBatch, now_ns() + 100 * kMillisecond, context_.log)) {
    for (Transmission& transmission : transmissions) receive(transmission);
  }
}

void UplinkPhy::receive(Transmission& transmission) {
  Log& log = context_.log;
  const TransportBlock& block = *transmission.block;
  HitId& last_hit = last_hit_[static_cast<std::size_t>(block.rnti - kFirstRnti)][block.harq];
  if (transmission.round == 0) last_hit = 0;
  last_hit = transmission.hit =
      SJ_HIT(log, origin_of(transmission, 0, last_hit), "U phy.in.ant--phy.in.proc",
             "len.round:rnti:harq.slot", block.bytes, transmission.round, block.rnti, block.harq,
             transmission.slot);
  faults_.work();

  const bool failed = transmission.corrupt;
  const HarqFeedback feedback{
      .rnti = block.rnti, .harq = block.harq, .direction = Direction::kUp, .done = !failed};
  if (failed ? transmission.round + 1 == kHarqRounds : faults_.drop()) {
    drop(transmission);
  } else if (!failed) {
    transmission.hit =
        SJ_HIT(log, origin_of(transmission, transmission.hit, 0), "U phy.in.proc--mac.demux",
               "len:rnti:harq.slot", block.bytes, block.rnti, block.harq, transmission.slot);
    mac_.put(std::move(transmission), log);
  }
  // Last, so that a stage behind that is slow also slows the grants.
  feedback_.put(feedback, log);
}

void UplinkPhy::drop(const Transmission& transmission) {
  const TransportBlock& block = *transmission.block;
  SJ_HIT(context_.log, origin_of(transmission, transmission.hit, 0), "U phy.in.proc--drop",
         "len:rnti:harq.slot", block.bytes, block.rnti, block.harq, transmission.slot);
  for (const Segment& segment : block.segments) {
    if (is_am(segment.packet.drb)) continue;
    context_.log.dropped(segment.packet.id, Direction::kUp, Place::kPhyIn);
  }
}

}  // namespace sojourn::basestation
