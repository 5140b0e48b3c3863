// Made-up radio traffic, downlink and uplink, with the mechanisms of the base station:
// segmentation, concatenation, HARQ rounds, reassembly. The same arguments make the same events.
// One thread owns a RadioTraffic.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <random>
#include <span>
#include <utility>
#include <vector>

#include "analysis/base/result.h"
#include "analysis/model/event.h"
#include "analysis/model/schema.h"

namespace sojourn::bench {

// Packets of 1,000 bytes, blocks of 1,700: most blocks hold parts of two packets.
class RadioTraffic {
 public:
  static constexpr std::uint32_t kThreads = 3;
  static constexpr std::uint32_t kFirstThread = 101;

  static Result<model::Schema> schema() {
    model::Schema schema;
    for (const auto& words : kPoints) {
      SJ_TRY(point, model::parse_point(words.where, words.fields));
      schema.points.push_back(std::move(point));
    }
    return schema;
  }

  // Makes this number of downlink packets, to the UEs in turn, and as many uplink blocks; an event
  // each `step_ns`, or each `step_ns` to `step_ns + jitter_ns`.
  RadioTraffic(std::uint64_t packets, std::uint64_t ues, std::uint64_t step_ns,
               std::uint64_t jitter_ns = 0)
      : left_(packets), step_ns_(step_ns), jitter_ns_(jitter_ns), state_(ues) {}

  // Returns false when there are no more events.
  bool fill(model::EventBatch& batch) {
    batch.clear();
    while (left_ > 0 && batch.size() < 8192) slot(batch);
    return !batch.empty();
  }

 private:
  struct Words {
    const char* where;
    const char* fields;
  };

  static constexpr Words kPoints[] = {
      {"D ip.in--pdcp.in", "len:rnti:drb.gsn"},
      {"D pdcp.in--pdcp.tx", "len:rnti:drb.gsn.psn"},
      {"D pdcp.tx--rlc.tx.am", "len:rnti:drb.psn"},
      {"D rlc.tx.am--rlc.seg.am", "len:rnti:drb.psn.rsn.so"},
      {"D rlc.tx.am--rlc.ack", "len:rnti:drb.psn.rsn"},
      {"D rlc.seg.am--mac.mux", "len:rnti:drb.rsn.so.slot"},
      {"D mac.mux--mac.harq.down", "len:rnti:harq.slot"},
      {"D mac.harq.down--phy.out.proc", "len.round:rnti:harq.slot"},
      {"D phy.out.proc--phy.out.ant", "len:rnti:slot"},
      {"U phy.in.ant--phy.in.proc", "len.round:rnti:harq.slot"},
      {"U phy.in.proc--mac.demux", "len:rnti:harq.slot"},
      {"U mac.demux--rlc.rx.am", "len:rnti:drb.rsn.so.slot"},
      {"U rlc.rx.am--pdcp.rx", "len:rnti:drb.rsn.psn"},
      {"U pdcp.rx--gtp.tx", "len:rnti:drb.psn.gsn"},
      {"U gtp.tx--ip.out", "len:rnti:drb.gsn"},
  };

  enum Point : std::uint16_t {
    kIn,
    kPdcp,
    kRlc,
    kSegment,
    kAck,
    kMux,
    kBlock,
    kSent,
    kOut,
    kReceived,
    kDecoded,
    kPiece,
    kSdu,
    kGtp,
    kSentUp,
  };

  struct Ue {
    std::uint64_t down = 0;  // next packet's number
    std::uint64_t sent = 0;  // bytes of the stream of packets that were sent
    std::uint64_t up = 0;
    std::uint64_t received = 0;
  };
  static constexpr std::uint64_t kBytes = 1000;
  static constexpr std::uint64_t kBlockBytes = 1700;

  void hit(model::EventBatch& batch, Point point, std::initializer_list<std::uint64_t> values) {
    now_ += step_ns_ + (jitter_ns_ > 0 ? random_() % (jitter_ns_ + 1) : 0);
    // Packets down to RLC, the slots, and the way up have a thread each.
    const std::uint32_t thread = point <= kRlc ? 0 : point <= kOut ? 1 : 2;
    batch.append({now_, seq_[thread]++, thread, kFirstThread + thread, point,
                  std::span(values.begin(), values.size())});
  }

  void slot(model::EventBatch& batch) {
    ++slot_;
    const auto rnti = slot_ % state_.size();
    auto& ue = state_[rnti];
    for (int i = 0; i < 2 && left_ > 0; ++i, --left_) arrive(batch, ue, rnti);
    while (ue.sent < ue.down * kBytes) block(batch, ue, rnti);
    uplink(batch, ue, rnti);
  }

  void arrive(model::EventBatch& batch, Ue& ue, std::uint64_t rnti) {
    const auto number = ue.down++ % 65536;
    const auto psn = number % 4096;
    hit(batch, kIn, {kBytes, rnti, 1, number});
    hit(batch, kPdcp, {kBytes, rnti, 1, number, psn});
    hit(batch, kRlc, {kBytes, rnti, 1, psn});
  }

  void block(model::EventBatch& batch, Ue& ue, std::uint64_t rnti) {
    const auto first_ack = ue.sent / kBytes;
    const auto end = std::min(ue.sent + kBlockBytes, ue.down * kBytes);
    while (ue.sent < end) {
      const auto psn = ue.sent / kBytes % 65536 % 4096;
      const auto so = ue.sent % kBytes;
      const auto len = std::min(kBytes - so, end - ue.sent);
      hit(batch, kSegment, {len, rnti, 1, psn, psn, so});
      hit(batch, kMux, {len, rnti, 1, psn, so, slot_});
      ue.sent += len;
    }
    const auto harq = slot_ % 16;
    hit(batch, kBlock, {kBlockBytes, rnti, harq, slot_});
    const auto rounds = random_() % 10 == 0 ? 2U : 1U;
    for (std::uint64_t round = 0; round < rounds; ++round) {
      hit(batch, kSent, {kBlockBytes, round, rnti, harq, slot_ + (round << 32)});
      hit(batch, kOut, {kBlockBytes, rnti, slot_ + (round << 32)});
    }
    for (auto packet = first_ack; (packet + 1) * kBytes <= ue.sent; ++packet)
      hit(batch, kAck, {kBytes, rnti, 1, packet % 65536 % 4096, packet % 65536 % 4096});
    ++slot_;
  }

  void uplink(model::EventBatch& batch, Ue& ue, std::uint64_t rnti) {
    const auto harq = slot_ % 16;
    hit(batch, kReceived, {kBlockBytes, 0, rnti, harq, slot_});
    hit(batch, kDecoded, {kBlockBytes, rnti, harq, slot_});
    const auto end = ue.received + kBlockBytes;
    while (ue.received < end) {
      const auto rsn = ue.received / kBytes % 4096;
      const auto so = ue.received % kBytes;
      const auto len = std::min(kBytes - so, end - ue.received);
      hit(batch, kPiece, {len, rnti, 1, rsn, so, slot_});
      ue.received += len;
      if (so + len != kBytes) continue;
      const auto number = ue.up++ % 4096;
      hit(batch, kSdu, {kBytes, rnti, 1, rsn, number});
      hit(batch, kGtp, {kBytes, rnti, 1, number, number});
      hit(batch, kSentUp, {kBytes, rnti, 1, number});
    }
  }

  std::uint64_t left_;
  std::uint64_t step_ns_;
  std::uint64_t jitter_ns_;
  std::uint64_t now_ = 1'000'000'000;
  std::array<std::uint64_t, kThreads> seq_ = {};  // by thread, which is a stream
  std::uint64_t slot_ = 0;
  std::vector<Ue> state_;
  std::mt19937_64 random_{1};
};

}  // namespace sojourn::bench
