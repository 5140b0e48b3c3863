#include "tests/unit/journeys/conventions.h"

#include <algorithm>
#include <deque>
#include <map>
#include <random>
#include <string_view>
#include <vector>

#include "tests/unit/journeys/made_truth.h"

namespace sojourn::journeys {
namespace {

using truth::HitId;
using truth::PacketId;
using truth::Piece;

constexpr unsigned kActions = 3000;
constexpr std::size_t kWindow = 20;

struct Sdu {
  PacketId packet = 0;
  std::uint32_t bytes = 0;
  std::uint32_t next = 0;  // first byte not sent yet
  std::uint64_t number = 0;
  HitId hit = 0;
};

class Lte {
 public:
  explicit Lte(std::uint32_t seed)
      : random_(seed), log_(random_, kPoints, {"U "}), ues_(1 + seed % 4) {
    for (std::size_t i = 0; i < ues_.size(); ++i) ues_[i].rnti = 0x18c7 + 31 * i;
  }

  truth::Truth run() {
    for (unsigned i = 0; i < kActions; ++i) {
      auto& ue = ues_[random_() % ues_.size()];
      switch (random_() % 4) {
        case 0:
          arrive(ue);
          break;
        case 1:
          send(ue);
          break;
        case 2:
          broadcast();
          break;
        default:
          receive(ue);
          break;
      }
    }
    // A packet is known to be whole only by its end.
    for (auto& ue : ues_)
      while (!ue.queue.empty()) send(ue);
    return log_.take();
  }

 private:
  static constexpr std::string_view kPoints = R"(
    D ip.in--pdcp.in.gtp len:rnti:drb.gsn
    D pdcp.in--pdcp.tx len:rnti:drb.gsn.psn
    D pdcp.tx--rlc.tx.am len:rnti:drb.psn.lcid.rsdu
    D rlc.tx.am--rlc.seg.am len:rnti:drb.lcid.rsdu.rsn
    D rlc.seg.am--mac.mux len:rnti:drb.lcid.rsn.fm
    D mac.mux--mac.txreq len:rnti:lcid.harq.txreq.fm.subfm
    D mac.txreq--phy.out.proc len:rnti:ue.harq.fm.subfm
    U phy.in.proc--mac.demux len:rnti:lcid.fm.subfm
    U mac.demux--rlc.rx.am len:rnti:drb.lcid.rsn.rso.fm
    U rlc.rx.am--pdcp.rx len:rnti:drb.lcid.rsn.psn.psn.fm
    U pdcp.rx--ip.out len:rnti:drb.psn.fm
  )";
  static constexpr std::uint64_t kDrb = 1;
  static constexpr std::uint64_t kLcid = 3;
  static constexpr std::uint64_t kFrames = 1024;
  static constexpr std::uint64_t kSdus = 128;
  static constexpr std::uint64_t kNumbers = 1024;

  struct Ue {
    std::uint64_t rnti = 0;
    std::uint64_t gsn = 0;
    std::uint64_t psn = 0;
    std::uint64_t rsdu = 0;
    std::uint64_t rsn = 0;
    std::uint64_t up_psn = 0;
    std::uint64_t up_rsn = 0;
    std::deque<Sdu> queue;
  };

  // Each block has a subframe of its own.
  void tick() { ++subframe_; }
  std::uint64_t fm() const { return subframe_ / 10 % kFrames; }
  std::uint64_t subfm() const { return subframe_ % 10; }
  std::uint64_t harq() const { return subframe_ % 8; }

  void arrive(Ue& ue) {
    if (ue.queue.size() == kWindow) return;
    Sdu sdu;
    sdu.bytes = 40 + static_cast<std::uint32_t>(random_() % 1400);
    sdu.packet = log_.packet(sdu.bytes);
    const std::vector<Piece> all = {{sdu.packet, 0, sdu.bytes}};
    const auto gsn = ue.gsn++ % kNumbers;
    const auto psn = ue.psn++ % kNumbers;
    sdu.number = ue.rsdu++ % kSdus;
    auto hit = log_.hit("D ip.in--pdcp.in.gtp", {sdu.bytes, ue.rnti, kDrb, gsn}, {}, all);
    hit = log_.hit("D pdcp.in--pdcp.tx", {sdu.bytes, ue.rnti, kDrb, gsn, psn}, {hit}, all);
    sdu.hit = log_.hit("D pdcp.tx--rlc.tx.am",
                       {sdu.bytes + 2, ue.rnti, kDrb, psn, kLcid, sdu.number}, {hit}, all);
    ue.queue.push_back(sdu);
  }

  void send(Ue& ue) {
    if (ue.queue.empty()) return;
    tick();
    const auto grant = 60 + static_cast<std::uint32_t>(random_() % 3000);
    const auto rsn = ue.rsn++ % kNumbers;
    auto room = grant;
    std::vector<HitId> parts;
    std::vector<Piece> pieces;
    while (room > 0 && !ue.queue.empty()) {
      auto& sdu = ue.queue.front();
      const auto end = std::min(sdu.bytes, sdu.next + room);
      pieces.push_back({sdu.packet, sdu.next, end});
      parts.push_back(log_.hit("D rlc.tx.am--rlc.seg.am",
                               {grant, ue.rnti, kDrb, kLcid, sdu.number, rsn}, {sdu.hit},
                               {pieces.back()}));
      room -= end - sdu.next;
      sdu.next = end;
      if (sdu.next == sdu.bytes) ue.queue.pop_front();
    }
    auto hit =
        log_.hit("D rlc.seg.am--mac.mux", {grant, ue.rnti, kDrb, kLcid, rsn, fm()}, parts, pieces);
    hit = log_.hit("D mac.mux--mac.txreq",
                   {grant + 5, ue.rnti, kLcid, harq(), subframe_, fm(), subfm()}, {hit}, pieces);
    log_.hit(
        "D mac.txreq--phy.out.proc",
        {grant + 5, ue.rnti, static_cast<std::uint64_t>(&ue - ues_.data()), harq(), fm(), subfm()},
        {hit}, pieces);
  }

  // System information goes to all UEs and belongs to no packet.
  void broadcast() {
    tick();
    log_.hit("D mac.txreq--phy.out.proc", {18, 0xffff, 0, 0, fm(), subfm()}, {});
  }

  void receive(Ue& ue) {
    tick();
    auto block = log_.hit("U phy.in.proc--mac.demux", {3000, ue.rnti, kLcid, fm(), subfm()}, {});
    const auto pdus = random_() % 3;
    for (std::uint64_t pdu = 0; pdu < pdus; ++pdu) {
      const auto rsn = ue.up_rsn++ % kNumbers;
      const auto taken =
          log_.hit("U mac.demux--rlc.rx.am", {1000, ue.rnti, kDrb, kLcid, rsn, 0, fm()}, {block});
      const auto sdus = 1 + random_() % 3;
      for (std::uint64_t sdu = 0; sdu < sdus; ++sdu) {
        const auto psn = 1 + ue.up_psn++ % kNumbers;
        const auto found = log_.hit("U rlc.rx.am--pdcp.rx",
                                    {300 + sdu, ue.rnti, kDrb, kLcid, rsn, 0, psn, fm()}, {taken});
        log_.hit("U pdcp.rx--ip.out", {300 + sdu, ue.rnti, kDrb, psn, fm()}, {found});
      }
    }
  }

  std::mt19937 random_;
  MadeTruth log_;
  std::vector<Ue> ues_;
  std::uint64_t subframe_ = 0;
};

class Srsran {
 public:
  explicit Srsran(std::uint32_t seed) : random_(seed), log_(random_, kPoints, {}) {
    for (std::uint64_t i = 0; i < 40; ++i) free_.push_back(0x7f3a2c001000 + i * 0x800);
    ues_.resize(1 + seed % 4);
  }

  truth::Truth run() {
    for (unsigned i = 0; i < kActions; ++i) {
      auto& ue = ues_[random_() % ues_.size()];
      switch (random_() % 4) {
        case 0:
        case 1:
          arrive(ue);
          break;
        case 2:
          slot();
          break;
        default:
          receive(ue);
          break;
      }
    }
    return log_.take();
  }

 private:
  static constexpr std::string_view kPoints = R"(
    D gtpu.rx--pdcp.tx len::bb
    D pdcp.tx--f1u.tx len:ue:rb.count.bb
    D f1u.tx--rlc.tx len:ue:rb.sn.bb
    D rlc.tx--mac.tx len:ue.rnti:rb.sn.so.slot
    D mac.tx--phy.tx len:rnti:slot
    D phy.tx--ru.out len::slot
    U ru.in--mac.rx len:rnti:slot.harq
    U mac.rx--rlc.rx len:rnti:slot.bb
    U rlc.rx--pdcp.rx len:ue:rb.bb
    U pdcp.rx--gtpu.tx len:ue:rb.count.bb
    U gtpu.tx--ip.out len::bb
  )";
  static constexpr std::uint64_t kNumbers = 64;

  struct Ue {
    std::uint64_t count = 0;
    std::uint64_t sn = 0;
    std::uint64_t up_count = 0;
    std::deque<Sdu> queue;
  };
  std::uint64_t id(const Ue& ue) const { return static_cast<std::uint64_t>(&ue - ues_.data()); }
  std::uint64_t rnti(const Ue& ue) const { return 0x4601 + id(ue); }

  std::uint64_t take_buffer() {
    const auto buffer = free_.back();
    free_.pop_back();
    return buffer;
  }
  // The next packet gets it.
  void give_back(std::uint64_t buffer) { free_.push_back(buffer); }

  void arrive(Ue& ue) {
    if (ue.queue.size() == kWindow) return;
    Sdu sdu;
    sdu.bytes = 40 + static_cast<std::uint32_t>(random_() % 1400);
    sdu.packet = log_.packet(sdu.bytes);
    const std::vector<Piece> all = {{sdu.packet, 0, sdu.bytes}};
    const auto bb = take_buffer();
    const auto count = ue.count++;
    sdu.number = ue.sn++ % kNumbers;
    auto hit = log_.hit("D gtpu.rx--pdcp.tx", {sdu.bytes, bb}, {}, all);
    hit = log_.hit("D pdcp.tx--f1u.tx", {sdu.bytes, id(ue), 1, count, bb}, {hit}, all);
    sdu.hit = log_.hit("D f1u.tx--rlc.tx", {sdu.bytes, id(ue), 1, sdu.number, bb}, {hit}, all);
    // RLC has copied it.
    give_back(bb);
    ue.queue.push_back(sdu);
  }

  // All UEs that have something send in the slot, which leaves as a whole.
  void slot() {
    ++slot_;
    std::vector<HitId> blocks;
    std::vector<Piece> all;
    for (auto& ue : ues_) {
      std::vector<HitId> parts;
      std::vector<Piece> pieces;
      for (auto room = static_cast<std::uint32_t>(random_() % 3000);
           room > 0 && !ue.queue.empty();) {
        auto& sdu = ue.queue.front();
        const auto end = std::min(sdu.bytes, sdu.next + room);
        pieces.push_back({sdu.packet, sdu.next, end});
        parts.push_back(log_.hit("D rlc.tx--mac.tx",
                                 {end - sdu.next, id(ue), rnti(ue), 1, sdu.number, sdu.next, slot_},
                                 {sdu.hit}, {pieces.back()}));
        room -= end - sdu.next;
        sdu.next = end;
        if (sdu.next == sdu.bytes) ue.queue.pop_front();
      }
      if (parts.empty()) continue;
      blocks.push_back(log_.hit("D mac.tx--phy.tx", {3000, rnti(ue), slot_}, parts, pieces));
      all.insert(all.end(), pieces.begin(), pieces.end());
    }
    if (!blocks.empty()) log_.hit("D phy.tx--ru.out", {9000, slot_}, blocks, all);
  }

  void receive(Ue& ue) {
    ++slot_;
    const auto block = log_.hit("U ru.in--mac.rx", {3000, rnti(ue), slot_, slot_ % 16}, {});
    const auto bb = take_buffer();
    auto hit = log_.hit("U mac.rx--rlc.rx", {800, rnti(ue), slot_, bb}, {block});
    hit = log_.hit("U rlc.rx--pdcp.rx", {790, id(ue), 1, bb}, {hit});
    // PDCP may throw it away without a word, and the next one has its buffer.
    if (random_() % 10 != 0) {
      hit = log_.hit("U pdcp.rx--gtpu.tx", {780, id(ue), 1, ue.up_count++, bb}, {hit});
      log_.hit("U gtpu.tx--ip.out", {780, bb}, {hit});
    }
    give_back(bb);
  }

  std::mt19937 random_;
  MadeTruth log_;
  std::vector<Ue> ues_;
  std::vector<std::uint64_t> free_;
  std::uint64_t slot_ = 0;
};

}  // namespace

truth::Truth oai_lte(std::uint32_t seed) {
  return Lte(seed).run();
}

truth::Truth srsran(std::uint32_t seed) {
  return Srsran(seed).run();
}

}  // namespace sojourn::journeys
