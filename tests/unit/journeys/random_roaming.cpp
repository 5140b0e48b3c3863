#include "tests/unit/journeys/random_roaming.h"

#include <algorithm>
#include <array>
#include <deque>
#include <random>
#include <string_view>
#include <utility>
#include <vector>

#include "analysis/journeys/units/intervals.h"
#include "tests/unit/journeys/made_truth.h"

namespace sojourn::journeys {
namespace {

using truth::HitId;
using truth::PacketId;
using truth::Piece;

constexpr std::size_t kHarqs = 4;
constexpr std::uint64_t kRounds = 3;
constexpr std::size_t kWindow = 8;
constexpr std::uint32_t kBlockBytes = 3000;
// Behind the numbers of PDCP there are others for the same units, of which a point may say either.
constexpr std::uint64_t kAlias = 100'000;

constexpr std::string_view kPoints = R"(
    D gtp.in--pdcp.in len:teid:gsn
    D pdcp.in--pdcp.tx len:teid.rnti:gsn.psn
    D pdcp.tx--rlc.tx len:rnti:psn.psn
    D rlc.tx--pdcp.forward len:rnti.rnti:psn
    D pdcp.forward--rlc.tx len:rnti:psn.psn
    D rlc.tx--rlc.seg len:rnti:psn.rsn.so
    D rlc.seg--mac.mux len:rnti:rsn.so.slot
    D mac.mux--mac.harq.down len:rnti:harq.slot
    D mac.harq.down--phy.out.proc len.round:rnti:harq.slot
    D mac.harq.down--drop len:rnti:harq.slot
    D phy.out.proc--phy.out.ant len:rnti:slot
    U phy.in.ant--phy.in.proc len.round:rnti.rnti:harq.slot
    U phy.in.proc--mac.demux len:rnti.rnti:harq.slot
    U phy.in.proc--drop len:rnti:harq.slot
    U mac.demux--rlc.rx len:rnti:rsn.so.slot
    U rlc.rx--drop len:rnti:rsn
    U rlc.rx--pdcp.rx len:rnti:rsn
    U pdcp.rx--gtp.tx len:rnti.teid:rsn.gsn
    U gtp.tx--ip.out len:teid:gsn
)";

struct DownSdu {
  PacketId packet = 0;
  std::uint32_t bytes = 0;
  std::uint32_t next = 0;  // first byte not sent yet
  std::uint64_t psn = 0;
  std::uint64_t rsn = 0;
  HitId hit = 0;  // in rlc.tx
};

struct UpSdu {
  std::uint64_t serial = 0;
  std::uint32_t bytes = 0;
  std::uint32_t next = 0;
  std::uint64_t rsn = 0;
  std::uint32_t flying = 0;  // pieces in blocks whose fate is open
  IntervalSet arrived;
  std::vector<HitId> held;
};

struct DownBlock {
  bool busy = false;
  std::uint64_t round = 0;
  HitId hit = 0;
  HitId last = 0;  // the latest transmission
  std::vector<Piece> pieces;
};

struct UpBlock {
  struct Part {
    std::uint64_t sdu = 0;
    Interval bytes;
  };
  bool busy = false;
  std::uint64_t rnti = 0;     // the temporary one, if it is the first
  std::uint64_t renamed = 0;  // its RNTI at the latest round
  std::uint64_t round = 0;
  std::uint64_t slot = 0;  // of the latest reception
  HitId last = 0;
  std::vector<Part> parts;
};

struct Ue {
  std::uint64_t teid = 0;
  std::uint64_t rnti = 0;
  std::uint64_t temporary = 0;  // for the next uplink block; 0: none
  std::uint64_t gsn = 0;
  std::uint64_t psn = 0;
  std::uint64_t rsn = 0;
  std::uint64_t up_rsn = 0;
  std::uint64_t up_gsn = 0;
  std::uint64_t up_serial = 0;
  std::deque<DownSdu> down;
  std::deque<UpSdu> up;
  std::array<DownBlock, kHarqs> sending;
  std::array<UpBlock, kHarqs> receiving;
};

class Simulation {
 public:
  explicit Simulation(const Roaming& roaming)
      : roaming_(roaming),
        random_(roaming.seed),
        log_(random_, kPoints, {"U mac.demux", "U rlc.rx"}),
        ues_(roaming.ues) {
    for (std::size_t i = 0; i < ues_.size(); ++i) {
      ues_[i].teid = 0x1000 + i;
      ues_[i].rnti = next_rnti_++;
    }
  }

  truth::Truth run() {
    for (std::uint32_t i = 0; i < roaming_.actions; ++i) {
      auto& ue = ues_[random_() % ues_.size()];
      if (chance(roaming_.handover_percent)) {
        hand_over(ue);
        continue;
      }
      switch (random_() % 5) {
        case 0:
          arrive(ue);
          break;
        case 1:
          send_block(ue);
          break;
        case 2:
          down_feedback(ue);
          break;
        case 3:
          phy_out();
          break;
        default:
          up_block(ue);
          break;
      }
    }
    return log_.take();
  }

 private:
  struct Flying {
    std::uint64_t rnti = 0;
    std::uint64_t slot = 0;
    HitId hit = 0;
    std::vector<Piece> pieces;
  };

  bool chance(std::uint32_t percent) { return random_() % 100 < percent; }
  std::uint32_t some_bytes() { return 1 + static_cast<std::uint32_t>(random_() % 1500); }
  std::uint64_t number(std::uint64_t& counter) const { return counter++ % roaming_.sequence; }

  void arrive(Ue& ue) {
    if (ue.down.size() >= kWindow) return;
    DownSdu sdu;
    sdu.bytes = some_bytes();
    sdu.packet = log_.packet(sdu.bytes);
    const std::vector<Piece> all = {{sdu.packet, 0, sdu.bytes}};
    const auto gsn = number(ue.gsn);
    sdu.psn = number(ue.psn);
    auto hit = log_.hit("D gtp.in--pdcp.in", {sdu.bytes, ue.teid, gsn}, {}, all);
    hit = log_.hit("D pdcp.in--pdcp.tx", {sdu.bytes, ue.teid, ue.rnti, gsn, sdu.psn}, {hit}, all);
    sdu.hit =
        log_.hit("D pdcp.tx--rlc.tx", {sdu.bytes, ue.rnti, sdu.psn, sdu.psn + kAlias}, {hit}, all);
    sdu.rsn = number(ue.rsn);
    ue.down.push_back(sdu);
  }

  HitId place(const Ue& ue, const DownSdu& sdu, std::uint32_t begin, std::uint32_t end) {
    const std::vector<Piece> piece = {{sdu.packet, begin, end}};
    const auto psn = sdu.psn + (chance(50) ? kAlias : 0);
    const auto segment = log_.hit("D rlc.tx--rlc.seg", {end - begin, ue.rnti, psn, sdu.rsn, begin},
                                  {sdu.hit}, piece);
    return log_.hit("D rlc.seg--mac.mux", {end - begin, ue.rnti, sdu.rsn, begin, slot_}, {segment},
                    piece);
  }

  void send_block(Ue& ue) {
    const auto free = std::ranges::find(ue.sending, false, &DownBlock::busy);
    if (free == ue.sending.end() || ue.down.empty()) return;
    auto& block = *free;
    block = {};
    block.busy = true;
    ++slot_;
    std::vector<HitId> parents;
    for (auto room = some_bytes(); room > 0 && !ue.down.empty();) {
      auto& sdu = ue.down.front();
      const auto end = std::min(sdu.bytes, sdu.next + room);
      parents.push_back(place(ue, sdu, sdu.next, end));
      block.pieces.push_back({sdu.packet, sdu.next, end});
      room -= end - sdu.next;
      sdu.next = end;
      if (sdu.next == sdu.bytes) ue.down.pop_front();
    }
    const auto harq = static_cast<std::uint64_t>(free - ue.sending.begin());
    block.hit = log_.hit("D mac.mux--mac.harq.down", {kBlockBytes, ue.rnti, harq, slot_}, parents,
                         block.pieces);
    transmit(ue, harq, block);
  }

  void transmit(const Ue& ue, std::uint64_t harq, DownBlock& block) {
    block.last =
        log_.hit("D mac.harq.down--phy.out.proc", {kBlockBytes, block.round, ue.rnti, harq, slot_},
                 {block.hit}, block.pieces, block.last);
    air_.push_back({ue.rnti, slot_, block.last, block.pieces});
  }

  void phy_out() {
    if (air_.empty()) return;
    const auto sent = air_.front();
    air_.pop_front();
    log_.hit("D phy.out.proc--phy.out.ant", {kBlockBytes, sent.rnti, sent.slot}, {sent.hit},
             sent.pieces);
  }

  void down_feedback(Ue& ue) {
    const auto harq = random_() % kHarqs;
    auto& block = ue.sending[harq];
    if (!block.busy) return;
    const bool lost = chance(roaming_.loss_percent);
    if (lost && ++block.round < kRounds) {
      ++slot_;
      transmit(ue, harq, block);
      return;
    }
    if (lost) give_up(ue, harq);
    block.busy = false;
  }

  void give_up(Ue& ue, std::uint64_t harq) {
    const auto& block = ue.sending[harq];
    log_.hit("D mac.harq.down--drop", {kBlockBytes, ue.rnti, harq, slot_}, {block.hit},
             block.pieces);
  }

  // A packet of the UE's that it cuts as grants come; the block's parts.
  void fill(Ue& ue, UpBlock& block) {
    if (chance(60) && ue.up.size() < kWindow) {
      UpSdu sdu;
      sdu.serial = ue.up_serial++;
      sdu.bytes = some_bytes();
      sdu.rsn = number(ue.up_rsn);
      ue.up.push_back(std::move(sdu));
    }
    auto room = some_bytes();
    for (auto& sdu : ue.up) {
      if (room == 0 || sdu.next == sdu.bytes) continue;
      const auto end = std::min(sdu.bytes, sdu.next + room);
      block.parts.push_back({sdu.serial, {sdu.next, end}});
      room -= end - sdu.next;
      sdu.next = end;
      ++sdu.flying;
    }
  }

  void up_block(Ue& ue) {
    const auto harq = random_() % kHarqs;
    auto& block = ue.receiving[harq];
    if (!block.busy) {
      block = {};
      fill(ue, block);
      if (block.parts.empty()) return;
      block.busy = true;
      block.rnti = block.renamed = ue.temporary != 0 ? ue.temporary : ue.rnti;
      ue.temporary = 0;
    }
    block.slot = ++slot_;
    // PHY may have either of the two names first.
    auto [first, second] = std::pair(block.rnti, block.renamed);
    if (chance(50)) std::swap(first, second);
    block.last =
        log_.hit("U phy.in.ant--phy.in.proc",
                 {kBlockBytes, block.round, first, second, harq, slot_}, {}, {}, block.last);
    if (!chance(roaming_.loss_percent)) {
      decode(ue, harq);
    } else if (++block.round == kRounds) {
      lose(ue, harq);
    }
  }

  void decode(Ue& ue, std::uint64_t harq) {
    auto& block = ue.receiving[harq];
    block.busy = false;
    const auto decoded = log_.hit("U phy.in.proc--mac.demux",
                                  {kBlockBytes, block.rnti, ue.rnti, harq, slot_}, {block.last});
    for (const auto& part : block.parts) receive(ue, decoded, part);
    clean(ue);
  }

  void lose(Ue& ue, std::uint64_t harq) {
    auto& block = ue.receiving[harq];
    block.busy = false;
    log_.hit("U phy.in.proc--drop", {kBlockBytes, block.rnti, harq, block.slot}, {block.last});
    for (const auto& part : block.parts) --find(ue, part.sdu)->flying;
    clean(ue);
  }

  static std::deque<UpSdu>::iterator find(Ue& ue, std::uint64_t serial) {
    return std::ranges::find(ue.up, serial, &UpSdu::serial);
  }

  void receive(Ue& ue, HitId decoded, const UpBlock::Part& part) {
    auto& sdu = *find(ue, part.sdu);
    --sdu.flying;
    sdu.arrived.add(part.bytes);
    sdu.held.push_back(log_.hit(
        "U mac.demux--rlc.rx",
        {part.bytes.end - part.bytes.begin, ue.rnti, sdu.rsn, part.bytes.begin, slot_}, {decoded}));
    if (sdu.arrived.bytes() != sdu.bytes) return;
    auto hit = log_.hit("U rlc.rx--pdcp.rx", {sdu.bytes, ue.rnti, sdu.rsn}, sdu.held);
    const auto gsn = number(ue.up_gsn);
    hit = log_.hit("U pdcp.rx--gtp.tx", {sdu.bytes, ue.rnti, ue.teid, sdu.rsn, gsn}, {hit});
    log_.hit("U gtp.tx--ip.out", {sdu.bytes, ue.teid, gsn}, {hit});
    sdu.held.clear();
  }

  // Units of which every piece came or was lost.
  void clean(Ue& ue) {
    for (const auto& sdu : ue.up)
      if (is_over(sdu)) discard(ue, sdu);
    std::erase_if(ue.up, is_over);
  }
  static bool is_over(const UpSdu& sdu) { return sdu.next == sdu.bytes && sdu.flying == 0; }

  void discard(const Ue& ue, const UpSdu& sdu) {
    if (!sdu.held.empty())
      log_.hit("U rlc.rx--drop", {sdu.arrived.bytes(), ue.rnti, sdu.rsn}, sdu.held);
  }

  // Gives up transmissions that were begun over the air; the rest is sent under the new RNTI.
  void hand_over(Ue& ue) {
    for (std::size_t harq = 0; harq < kHarqs; ++harq) {
      if (ue.sending[harq].busy) give_up(ue, harq);
      ue.sending[harq].busy = false;
    }
    const auto before = ue.rnti;
    const auto is_held = [](const UpSdu& sdu) { return !sdu.held.empty(); };
    if (chance(50) && std::ranges::none_of(ue.up, is_held)) {
      ue.rnti = next_rnti_++;
      for (auto& block : ue.receiving) block.renamed = ue.rnti;
    } else {
      start_anew(ue);
    }
    for (auto& sdu : ue.down) {
      const std::vector<Piece> all = {{sdu.packet, 0, sdu.bytes}};
      const auto moved = log_.hit("D rlc.tx--pdcp.forward",
                                  {sdu.bytes, before, ue.rnti, sdu.psn + (chance(50) ? kAlias : 0)},
                                  {sdu.hit}, all);
      // RLC may know the SDU by either number.
      sdu.hit = log_.hit("D pdcp.forward--rlc.tx", {sdu.bytes, ue.rnti, sdu.psn, sdu.psn + kAlias},
                         {moved}, all);
      sdu.next = 0;
      sdu.rsn = number(ue.rsn);
    }
  }

  // In the uplink a UE starts anew under a temporary RNTI, or a block under way goes on: then its
  // later rounds have both names.
  void start_anew(Ue& ue) {
    for (std::size_t harq = 0; harq < kHarqs; ++harq)
      if (ue.receiving[harq].busy) lose(ue, harq);
    for (const auto& sdu : ue.up) discard(ue, sdu);
    ue.up.clear();
    ue.temporary = next_rnti_++;
    ue.rnti = next_rnti_++;
  }

  const Roaming& roaming_;
  std::mt19937 random_;
  MadeTruth log_;
  std::vector<Ue> ues_;
  std::deque<Flying> air_;
  std::uint64_t next_rnti_ = 0x4601;
  std::uint64_t slot_ = 0;
};

}  // namespace

truth::Truth random_roaming(const Roaming& roaming) {
  return Simulation(roaming).run();
}

}  // namespace sojourn::journeys
