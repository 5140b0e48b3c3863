#include "tests/unit/journeys/random_radio.h"

#include <algorithm>
#include <deque>
#include <map>
#include <optional>
#include <random>

#include <fmt/format.h>

#include "analysis/journeys/units/intervals.h"
#include "tests/unit/journeys/made_truth.h"
#include "tests/unit/journeys/world.h"

namespace sojourn::journeys {
namespace {

using truth::HitId;
using truth::PacketId;
using truth::Piece;
using truth::Truth;

constexpr std::uint64_t kHarqs = 4;
constexpr std::uint64_t kRounds = 3;
constexpr std::size_t kWindow = 8;  // units of one bearer under way, far below a wrap

enum Bearer : std::uint64_t { kUm = 1, kAm = 2 };

struct Sdu {
  PacketId packet = 0;
  std::uint32_t bytes = 0;
  std::uint64_t psn = 0;
  std::uint64_t rsn = 0;
  HitId hit = 0;               // in rlc.tx (downlink)
  std::uint32_t next = 0;      // first byte not sent yet
  std::vector<Interval> lost;  // to be sent again
  IntervalSet arrived;         // at the other side
  std::vector<std::pair<Interval, HitId>> sent;
  std::vector<HitId> held;   // hits of received pieces (uplink)
  std::uint32_t flying = 0;  // pieces in blocks whose fate is open
  bool numbered = false;
  bool done = false;
};

struct Part {
  std::size_t sdu = 0;  // in the bearer's window, by serial
  std::uint64_t drb = 0;
  Interval bytes;
};

struct Block {
  std::vector<Part> parts;
  bool control = false;
  bool busy = false;
  std::uint64_t round = 0;
  std::uint32_t bytes = 0;
  HitId hit = 0;   // mac.mux--mac.harq.down
  HitId last = 0;  // the latest transmission or reception
  std::vector<Piece> pieces;
};

struct BearerState {
  std::deque<Sdu> window;
  std::size_t first = 0;  // serial of the window's first
  std::uint64_t rsn = 0;

  Sdu* find(std::size_t serial) {
    return serial < first || serial - first >= window.size() ? nullptr : &window[serial - first];
  }
};

class Simulation {
 public:
  explicit Simulation(const Radio& radio)
      : radio_(radio),
        random_(radio.seed),
        // RLC receives, throws away and puts together in one thread.
        log_(random_, radio_points(), {"U mac.demux", "U rlc.rx"}) {
    ues_.resize(radio.ues);
  }

  Truth run() {
    for (std::uint32_t i = 0; i < radio_.actions; ++i) {
      const auto ue = random_() % ues_.size();
      switch (random_() % 6) {
        case 0:
          arrive(ue);
          break;
        case 1:
          ues_[ue].up[pick_bearer()].window.size() < kWindow ? offer(ue) : void();
          break;
        case 2:
          send_block(ue);
          break;
        case 3:
          down_feedback(ue);
          break;
        case 4:
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
  struct Ue {
    std::map<std::uint64_t, BearerState> down;
    std::map<std::uint64_t, BearerState> up;
    std::map<std::uint64_t, std::uint64_t> gsn;
    std::map<std::uint64_t, std::uint64_t> psn;
    std::map<std::uint64_t, std::uint64_t> up_gsn;
    Block sending[kHarqs];
    Block receiving[kHarqs];
  };
  struct Flying {
    std::uint64_t ue = 0;
    std::uint64_t slot = 0;
    std::uint32_t bytes = 0;
    HitId hit = 0;
    std::vector<Piece> pieces;
  };

  bool chance(std::uint32_t percent) { return random_() % 100 < percent; }
  std::uint64_t pick_bearer() { return random_() % 2 == 0 ? kUm : kAm; }
  std::uint32_t some_bytes() { return 1 + static_cast<std::uint32_t>(random_() % 1500); }

  void arrive(std::uint64_t ue) {
    const auto drb = pick_bearer();
    auto& state = ues_[ue];
    auto& bearer = state.down[drb];
    if (bearer.window.size() >= kWindow) return;
    const auto bytes = some_bytes();
    const auto packet = log_.packet(bytes);
    const auto gsn = state.gsn[drb]++ % radio_.sequence;
    const std::vector<Piece> all = {{packet, 0, bytes}};
    auto hit = log_.hit("D ip.in--pdcp.in", {bytes, ue, drb, gsn}, {}, all);
    if (chance(radio_.drop_percent)) {
      log_.hit("D pdcp.in--drop", {bytes, ue, drb, gsn}, {hit}, all);
      return;
    }
    const auto psn = state.psn[drb]++ % radio_.sequence;
    hit = log_.hit("D pdcp.in--pdcp.tx", {bytes, ue, drb, gsn, psn}, {hit}, all);
    const std::string tx = drb == kAm ? "rlc.tx.am" : "rlc.tx.um";
    hit = log_.hit("D pdcp.tx--" + tx, {bytes, ue, drb, psn}, {hit}, all);
    if (chance(radio_.drop_percent)) {
      log_.hit("D " + tx + "--drop", {bytes, ue, drb, psn}, {hit}, all);
      return;
    }
    Sdu sdu;
    sdu.packet = packet;
    sdu.bytes = bytes;
    sdu.psn = psn;
    sdu.hit = hit;
    bearer.window.push_back(std::move(sdu));
  }

  // The next bytes that a bearer wants to send, at most `room`.
  std::optional<Part> pull(BearerState& bearer, std::uint64_t drb, std::uint32_t room) const {
    for (std::size_t i = 0; i < bearer.window.size(); ++i) {
      auto& sdu = bearer.window[i];
      if (sdu.done) continue;
      if (!sdu.numbered) sdu.rsn = bearer.rsn++ % radio_.sequence;
      sdu.numbered = true;
      Interval bytes;
      if (!sdu.lost.empty()) {
        auto& lost = sdu.lost.back();
        bytes = {lost.begin, std::min(lost.end, lost.begin + room)};
        lost.begin = bytes.end;
        if (lost.begin >= lost.end) sdu.lost.pop_back();
      } else if (sdu.next < sdu.bytes) {
        bytes = {sdu.next, std::min(sdu.bytes, sdu.next + room)};
        sdu.next = bytes.end;
      } else {
        continue;
      }
      ++sdu.flying;
      return Part{bearer.first + i, drb, bytes};
    }
    return std::nullopt;
  }

  static Block* free_block(Block (&blocks)[kHarqs]) {
    const auto found = std::ranges::find(blocks, false, &Block::busy);
    return found == std::end(blocks) ? nullptr : found;
  }

  void send_block(std::uint64_t ue) {
    auto& state = ues_[ue];
    auto* block = free_block(state.sending);
    if (block == nullptr) return;
    const auto harq = static_cast<std::uint64_t>(block - state.sending);
    *block = {};
    ++slot_;
    std::vector<HitId> parents;
    if (chance(15)) {
      parents.push_back(log_.hit("D rlc.ctrl.am--mac.mux", {6, ue, kAm, slot_}, {}));
      block->control = true;
    }
    auto room = some_bytes();
    for (int turn = 0; turn < 4 && room > 0; ++turn) {
      const auto drb = pick_bearer();
      auto& bearer = state.down[drb];
      const auto part = pull(bearer, drb, room);
      if (!part) continue;
      room -= part->bytes.end - part->bytes.begin;
      parents.push_back(place(ue, *bearer.find(part->sdu), *part));
      const auto& sdu = *bearer.find(part->sdu);
      block->pieces.push_back({sdu.packet, part->bytes.begin, part->bytes.end});
      block->parts.push_back(*part);
    }
    if (parents.empty()) return;
    block->busy = true;
    block->bytes = 3000;
    block->hit = log_.hit("D mac.mux--mac.harq.down", {block->bytes, ue, harq, slot_}, parents,
                          block->pieces);
    transmit(ue, harq, *block);
  }

  HitId place(std::uint64_t ue, Sdu& sdu, const Part& part) {
    const std::string kind = part.drb == kAm ? "am" : "um";
    const auto length = part.bytes.end - part.bytes.begin;
    const std::vector<Piece> piece = {{sdu.packet, part.bytes.begin, part.bytes.end}};
    HitId earlier = 0;
    for (const auto& [bytes, hit] : sdu.sent)
      if (bytes.begin <= part.bytes.begin && part.bytes.begin < bytes.end) earlier = hit;
    const auto segment = log_.hit("D rlc.tx." + kind + "--rlc.seg." + kind,
                                  {length, ue, part.drb, sdu.psn, sdu.rsn, part.bytes.begin},
                                  {sdu.hit}, piece, earlier);
    sdu.sent.emplace_back(part.bytes, segment);
    return log_.hit("D rlc.seg." + kind + "--mac.mux",
                    {length, ue, part.drb, sdu.rsn, part.bytes.begin, slot_}, {segment}, piece);
  }

  void transmit(std::uint64_t ue, std::uint64_t harq, Block& block) {
    block.last =
        log_.hit("D mac.harq.down--phy.out.proc", {block.bytes, block.round, ue, harq, slot_},
                 {block.hit}, block.pieces, block.last);
    air_.push_back({ue, slot_, block.bytes, block.last, block.pieces});
  }

  void phy_out() {
    if (air_.empty()) return;
    const auto sent = air_.front();
    air_.pop_front();
    log_.hit("D phy.out.proc--phy.out.ant", {sent.bytes, sent.ue, sent.slot}, {sent.hit},
             sent.pieces);
  }

  void down_feedback(std::uint64_t ue) {
    auto& state = ues_[ue];
    const auto harq = random_() % kHarqs;
    auto& block = state.sending[harq];
    if (!block.busy) return;
    const bool lost = chance(radio_.loss_percent);
    if (lost && ++block.round < kRounds) {
      ++slot_;
      transmit(ue, harq, block);
      return;
    }
    block.busy = false;
    if (lost) {
      const auto& values = std::vector<std::uint64_t>{block.bytes, ue, harq, slot_};
      log_.hit("D mac.harq.down--drop", values, {block.hit}, block.pieces);
    }
    for (const auto& part : block.parts) settle(ue, state.down[part.drb], part, !lost);
  }

  // A piece of the downlink arrived or did not: acknowledged mode sends it again.
  void settle(std::uint64_t ue, BearerState& bearer, const Part& part, bool arrived) {
    auto& sdu = *bearer.find(part.sdu);
    --sdu.flying;
    if (arrived) sdu.arrived.add(part.bytes);
    const bool whole = sdu.arrived.bytes() == sdu.bytes;
    if (part.drb == kAm && (!arrived || (!whole && chance(radio_.repeat_percent))))
      sdu.lost.push_back(part.bytes);
    if (sdu.flying == 0 && sdu.lost.empty() && sdu.next == sdu.bytes && !sdu.done) {
      sdu.done = true;
      if (part.drb == kAm)
        log_.hit("D rlc.tx.am--rlc.ack", {sdu.bytes, ue, part.drb, sdu.psn, sdu.rsn}, {sdu.hit},
                 {{sdu.packet, 0, sdu.bytes}});
    }
    while (!bearer.window.empty() && bearer.window.front().done) {
      bearer.window.pop_front();
      ++bearer.first;
    }
  }

  void offer(std::uint64_t ue) {
    const auto drb = pick_bearer();
    auto& bearer = ues_[ue].up[drb];
    if (bearer.window.size() >= kWindow) return;
    Sdu sdu;
    sdu.bytes = some_bytes();
    sdu.packet = log_.packet(sdu.bytes);
    bearer.window.push_back(std::move(sdu));
  }

  void up_block(std::uint64_t ue) {
    auto& state = ues_[ue];
    const auto harq = random_() % kHarqs;
    auto& block = state.receiving[harq];
    if (!block.busy) {
      block = {};
      auto room = some_bytes();
      for (int turn = 0; turn < 4 && room > 0; ++turn) {
        const auto drb = pick_bearer();
        const auto part = pull(state.up[drb], drb, room);
        if (!part) continue;
        room -= part->bytes.end - part->bytes.begin;
        block.parts.push_back(*part);
      }
      block.control = chance(20);
      if (block.parts.empty() && !block.control) return;
      block.busy = true;
      block.bytes = 3000;
    }
    ++slot_;
    block.last = log_.hit("U phy.in.ant--phy.in.proc", {block.bytes, block.round, ue, harq, slot_},
                          {}, {}, block.last);
    if (!chance(radio_.loss_percent)) {
      decode(ue, harq, block);
    } else if (++block.round == kRounds) {
      log_.hit("U phy.in.proc--drop", {block.bytes, ue, harq, slot_}, {block.last});
      block.busy = false;
      for (const auto& part : block.parts) up_lost(ue, state.up[part.drb], part);
    }
  }

  void decode(std::uint64_t ue, std::uint64_t harq, Block& block) {
    block.busy = false;
    const auto decoded =
        log_.hit("U phy.in.proc--mac.demux", {block.bytes, ue, harq, slot_}, {block.last});
    if (block.control) log_.hit("U mac.demux--rlc.ctrl.am", {6, ue, kAm, slot_}, {decoded});
    for (const auto& part : block.parts) receive(ue, decoded, part);
    for (const auto drb : {kUm, kAm}) clean(ue, ues_[ue].up[drb], drb);
  }

  void receive(std::uint64_t ue, HitId decoded, const Part& part) {
    auto& sdu = *ues_[ue].up[part.drb].find(part.sdu);
    const std::string rx = part.drb == kAm ? "rlc.rx.am" : "rlc.rx.um";
    const auto length = part.bytes.end - part.bytes.begin;
    --sdu.flying;
    const auto piece = log_.hit(
        "U mac.demux--" + rx, {length, ue, part.drb, sdu.rsn, part.bytes.begin, slot_}, {decoded});
    if (sdu.done || sdu.arrived.holds(part.bytes)) {
      log_.hit("U rlc.rx.am--drop", {length, ue, part.drb, sdu.rsn, part.bytes.begin}, {piece});
      return;
    }
    sdu.arrived.add(part.bytes);
    sdu.held.push_back(piece);
    if (sdu.arrived.bytes() == sdu.bytes) {
      deliver(ue, sdu, part.drb);
    } else if (part.drb == kAm && chance(radio_.repeat_percent)) {
      // Sent again, alone or with bytes that were not sent yet: the segments overlap then.
      sdu.lost.push_back(random_() % 2 == 0 ? part.bytes : Interval{0, sdu.bytes});
    }
  }

  void deliver(std::uint64_t ue, Sdu& sdu, std::uint64_t drb) {
    const std::string rx = drb == kAm ? "rlc.rx.am" : "rlc.rx.um";
    sdu.done = true;
    const auto psn = sdu.rsn;
    const auto joined =
        log_.hit("U " + rx + "--pdcp.rx", {sdu.bytes, ue, drb, sdu.rsn, psn}, sdu.held);
    if (chance(radio_.drop_percent)) {
      log_.hit("U pdcp.rx--drop", {sdu.bytes, ue, drb, psn}, {joined});
      return;
    }
    const auto gsn = ues_[ue].up_gsn[drb]++ % radio_.sequence;
    const auto out = log_.hit("U pdcp.rx--gtp.tx", {sdu.bytes, ue, drb, psn, gsn}, {joined});
    log_.hit("U gtp.tx--ip.out", {sdu.bytes, ue, drb, gsn}, {out});
  }

  void up_lost(std::uint64_t ue, BearerState& bearer, const Part& part) {
    auto& sdu = *bearer.find(part.sdu);
    --sdu.flying;
    if (part.drb == kAm && !sdu.done) sdu.lost.push_back(part.bytes);
    clean(ue, bearer, part.drb);
  }

  // Gives up SDUs that can never become whole (UM), and forgets finished ones.
  void clean(std::uint64_t ue, BearerState& bearer, std::uint64_t drb) {
    for (auto& sdu : bearer.window) {
      const bool sent = sdu.next == sdu.bytes && sdu.flying == 0 && sdu.lost.empty();
      if (sdu.done || !sent) continue;
      sdu.done = true;
      if (!sdu.held.empty())
        log_.hit("U rlc.rx.um--drop", {sdu.arrived.bytes(), ue, drb, sdu.rsn}, sdu.held);
    }
    const auto over = [](const Sdu& sdu) { return sdu.done && sdu.flying == 0; };
    while (!bearer.window.empty() && over(bearer.window.front())) {
      bearer.window.pop_front();
      ++bearer.first;
    }
  }

  const Radio& radio_;
  std::mt19937 random_;
  MadeTruth log_;
  std::vector<Ue> ues_;
  std::deque<Flying> air_;
  std::uint64_t slot_ = 0;
};

}  // namespace

Truth random_radio(const Radio& radio) {
  return Simulation(radio).run();
}

}  // namespace sojourn::journeys
