#include "tests/unit/journeys/random_legs.h"

#include <algorithm>
#include <array>
#include <deque>
#include <map>
#include <random>
#include <string_view>
#include <utility>
#include <vector>

#include "analysis/journeys/units/intervals.h"
#include "tests/unit/journeys/made_truth.h"

namespace sojourn::journeys {
namespace {

using truth::HitId;

constexpr std::size_t kLegs = 2;
constexpr std::size_t kHarqs = 4;
constexpr std::uint64_t kRounds = 3;
constexpr std::size_t kWindow = 8;    // packets of a leg under way
constexpr std::size_t kMaxHeld = 6;   // then PDCP goes on without what is missing
constexpr std::uint64_t kAhead = 16;  // packets that one leg may be ahead of delivery
constexpr std::uint32_t kBlockBytes = 3000;

constexpr std::string_view kPoints = R"(
    U ant--phy len.round:rnti:harq.slot
    U phy--demux len:rnti:harq.slot
    U phy--drop len:rnti:harq.slot
    U demux--rlc.rx len:rnti:lcid.rsn.so.slot
    U rlc.rx--pdcp.rx len:rnti:lcid.rsn.psn
    U rlc.rx--drop len:rnti:lcid.rsn
    U pdcp.rx--drop len:rnti:lcid.psn
    U pdcp.rx--gtp.tx len:rnti:psn.gsn
    U gtp.tx--ip.out len:rnti:gsn
)";

struct Sdu {
  std::uint64_t packet = 0;
  std::uint32_t bytes = 0;
  std::uint32_t next = 0;  // first byte not sent yet
  std::uint64_t rsn = 0;
  std::uint32_t flying = 0;  // pieces in blocks whose fate is open
  IntervalSet arrived;
  std::vector<HitId> held;
};

struct Block {
  struct Part {
    std::uint64_t rsn = 0;
    Interval bytes;
  };
  bool busy = false;
  std::uint64_t round = 0;
  HitId last = 0;
  std::uint64_t slot = 0;  // of the latest reception
  std::vector<Part> parts;
};

struct Leg {
  std::uint64_t lcid = 0;
  std::uint64_t rsn = 0;
  std::deque<Sdu> sdus;
  std::array<Block, kHarqs> blocks;
};

struct Packet {
  std::uint32_t bytes = 0;
  HitId hit = 0;
};

struct Ue {
  std::uint64_t rnti = 0;
  std::uint64_t packets = 0;
  std::uint64_t next = 0;  // to be delivered
  std::uint64_t gsn = 0;
  std::map<std::uint64_t, Packet> held;
  std::array<Leg, kLegs> legs;
};

class Simulation {
 public:
  explicit Simulation(const Legs& legs)
      : legs_(legs),
        random_(legs.seed),
        log_(random_, kPoints, {"U demux", "U rlc.rx"}),
        ues_(legs.ues) {
    for (std::size_t i = 0; i < ues_.size(); ++i) {
      ues_[i].rnti = 0x4601 + i;
      for (std::size_t leg = 0; leg < kLegs; ++leg) ues_[i].legs[leg].lcid = 4 + leg;
    }
  }

  truth::Truth run() {
    for (std::uint32_t i = 0; i < legs_.actions; ++i) {
      auto& ue = ues_[random_() % ues_.size()];
      if (chance(30))
        offer(ue);
      else
        receive_block(ue, random_() % kLegs);
    }
    return log_.take();
  }

 private:
  bool chance(std::uint32_t percent) { return random_() % 100 < percent; }
  std::uint32_t some_bytes() { return 1 + static_cast<std::uint32_t>(random_() % 1500); }

  void offer(Ue& ue) {
    const auto is_full = [](const Leg& leg) { return leg.sdus.size() >= kWindow; };
    if (std::ranges::any_of(ue.legs, is_full)) return;
    if (ue.packets - ue.next >= kAhead) give_up_missing(ue);
    const auto packet = ue.packets++;
    const auto bytes = some_bytes();
    const bool twice = chance(legs_.duplicate_percent);
    const auto only = random_() % kLegs;
    for (std::size_t i = 0; i < kLegs; ++i) {
      if (!twice && i != only) continue;
      auto& leg = ue.legs[i];
      Sdu sdu;
      sdu.packet = packet;
      sdu.bytes = bytes;
      sdu.rsn = leg.rsn++;
      leg.sdus.push_back(std::move(sdu));
    }
  }

  static void fill(Leg& leg, Block& block, std::uint32_t room) {
    for (auto& sdu : leg.sdus) {
      if (room == 0 || sdu.next == sdu.bytes) continue;
      const auto end = std::min(sdu.bytes, sdu.next + room);
      block.parts.push_back({sdu.rsn, {sdu.next, end}});
      room -= end - sdu.next;
      sdu.next = end;
      ++sdu.flying;
    }
  }

  void receive_block(Ue& ue, std::size_t which) {
    auto& leg = ue.legs[which];
    const auto process = random_() % kHarqs;
    const auto harq = which * kHarqs + process;
    auto& block = leg.blocks[process];
    if (!block.busy) {
      block = {};
      fill(leg, block, some_bytes());
      if (block.parts.empty()) return;
      block.busy = true;
    }
    block.slot = ++slot_;
    block.last = log_.hit("U ant--phy", {kBlockBytes, block.round, ue.rnti, harq, slot_}, {}, {},
                          block.last);
    if (!chance(legs_.loss_percent)) {
      block.busy = false;
      const auto decoded =
          log_.hit("U phy--demux", {kBlockBytes, ue.rnti, harq, slot_}, {block.last});
      for (const auto& part : block.parts) take(ue, leg, decoded, part);
    } else if (++block.round == kRounds) {
      block.busy = false;
      log_.hit("U phy--drop", {kBlockBytes, ue.rnti, harq, block.slot}, {block.last});
      for (const auto& part : block.parts) --find(leg, part.rsn).flying;
    }
    clean(ue, leg);
  }

  static Sdu& find(Leg& leg, std::uint64_t rsn) {
    return *std::ranges::find(leg.sdus, rsn, &Sdu::rsn);
  }

  void take(Ue& ue, Leg& leg, HitId decoded, const Block::Part& part) {
    auto& sdu = find(leg, part.rsn);
    --sdu.flying;
    sdu.arrived.add(part.bytes);
    const auto rsn = sdu.rsn % legs_.sequence;
    sdu.held.push_back(log_.hit(
        "U demux--rlc.rx",
        {part.bytes.end - part.bytes.begin, ue.rnti, leg.lcid, rsn, part.bytes.begin, slot_},
        {decoded}));
    if (sdu.arrived.bytes() != sdu.bytes) return;
    const auto psn = sdu.packet % legs_.sequence;
    const auto hit =
        log_.hit("U rlc.rx--pdcp.rx", {sdu.bytes, ue.rnti, leg.lcid, rsn, psn}, sdu.held);
    sdu.held.clear();
    if (sdu.packet < ue.next || ue.held.contains(sdu.packet)) {
      log_.hit("U pdcp.rx--drop", {sdu.bytes, ue.rnti, leg.lcid, psn}, {hit});
      return;
    }
    ue.held[sdu.packet] = {sdu.bytes, hit};
    deliver(ue);
  }

  // Gives up missing packets: delivery goes on behind them.
  void give_up_missing(Ue& ue) {
    ue.next = ue.held.empty() ? ue.packets : ue.held.begin()->first;
    deliver(ue);
  }

  void deliver(Ue& ue) {
    if (ue.held.size() > kMaxHeld) ue.next = ue.held.begin()->first;
    while (!ue.held.empty() && ue.held.begin()->first == ue.next) {
      const auto [bytes, arrived] = ue.held.begin()->second;
      const auto gsn = ue.gsn++ % legs_.sequence;
      const auto hit =
          log_.hit("U pdcp.rx--gtp.tx", {bytes, ue.rnti, ue.next % legs_.sequence, gsn}, {arrived});
      log_.hit("U gtp.tx--ip.out", {bytes, ue.rnti, gsn}, {hit});
      ue.held.erase(ue.held.begin());
      ++ue.next;
    }
  }

  // Units of which every piece came or was lost.
  void clean(const Ue& ue, Leg& leg) {
    const auto is_over = [](const Sdu& sdu) { return sdu.next == sdu.bytes && sdu.flying == 0; };
    for (const auto& sdu : leg.sdus)
      if (is_over(sdu) && !sdu.held.empty())
        log_.hit("U rlc.rx--drop",
                 {sdu.arrived.bytes(), ue.rnti, leg.lcid, sdu.rsn % legs_.sequence}, sdu.held);
    std::erase_if(leg.sdus, is_over);
  }

  const Legs& legs_;
  std::mt19937 random_;
  MadeTruth log_;
  std::vector<Ue> ues_;
  std::uint64_t slot_ = 0;
};

}  // namespace

truth::Truth random_legs(const Legs& legs) {
  return Simulation(legs).run();
}

}  // namespace sojourn::journeys
