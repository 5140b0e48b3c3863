// How many events a second one core turns into journeys and statistics, on a made-up downlink and
// uplink in the shape of the base station's: segmentation, concatenation, HARQ rounds, reassembly.
// Usage: journeys-speed [packets=1000000] [ues=20] [nanoseconds between events=1000]
#include <cstdlib>
#include <random>
#include <vector>

#include <fmt/core.h>
#include <sys/resource.h>
#include <time.h>

#include "analysis/journeys/rebuilder.h"
#include "analysis/report/summary.h"

namespace sojourn {
namespace {

struct Words {
  const char* where;
  const char* fields;
};

constexpr Words kPoints[] = {
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

// Packets of 1,000 bytes, blocks of 1,700: most blocks hold parts of two packets.
class Generator {
 public:
  Generator(std::uint64_t packets, std::uint64_t ues, std::uint64_t step_ns)
      : left_(packets), ues_(ues), step_ns_(step_ns) {}

  // False when there is nothing more.
  bool fill(model::EventBatch& batch) {
    batch.clear();
    while (left_ > 0 && batch.size() < 8192) slot(batch);
    return !batch.empty();
  }

 private:
  struct Ue {
    std::uint64_t down = 0;  // next packet's number
    std::uint64_t sent = 0;  // bytes of the stream of packets that were sent
    std::uint64_t up = 0;
    std::uint64_t received = 0;
  };
  static constexpr std::uint64_t kBytes = 1000;
  static constexpr std::uint64_t kBlockBytes = 1700;

  void hit(model::EventBatch& batch, Point point, std::initializer_list<std::uint64_t> values) {
    now_ += step_ns_;
    batch.append({now_, seq_++, 0, 7, point, std::span(values.begin(), values.size())});
  }

  void slot(model::EventBatch& batch) {
    ++slot_;
    state_.resize(ues_);
    const auto rnti = slot_ % ues_;
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
  std::uint64_t ues_;
  std::uint64_t step_ns_;
  std::uint64_t now_ = 1'000'000'000;
  std::uint64_t seq_ = 0;
  std::uint64_t slot_ = 0;
  std::vector<Ue> state_;
  std::mt19937_64 random_{1};
};

// The thread's CPU time: other programs on the machine do not count.
std::uint64_t cpu_ns() {
  timespec now{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return static_cast<std::uint64_t>(now.tv_sec) * 1'000'000'000 +
         static_cast<std::uint64_t>(now.tv_nsec);
}

int run(std::uint64_t packets, std::uint64_t ues, std::uint64_t step_ns) {
  model::Schema schema;
  for (const auto& point : kPoints) {
    auto parsed = model::parse_point(point.where, point.fields);
    if (!parsed) {
      fmt::print(stderr, "{}\n", parsed.error().text());
      return 1;
    }
    schema.points.push_back(std::move(*parsed));
  }
  const journeys::Rules rules;
  auto topology = journeys::Topology::derive(schema, rules);
  report::Summary summary(*topology, rules, 0);
  auto rebuilder = journeys::Rebuilder::create(schema, rules, {}, summary);
  Generator generator(packets, ues, step_ns);
  model::EventBatch batch;
  std::uint64_t spent_ns = 0;
  while (generator.fill(batch)) {
    const auto begin_ns = cpu_ns();
    rebuilder->consume(batch);
    spent_ns += cpu_ns() - begin_ns;
  }
  const auto begin_ns = cpu_ns();
  rebuilder->finish();
  spent_ns += cpu_ns() - begin_ns;
  const auto& totals = rebuilder->totals();
  const auto& down = summary.direction(model::Direction::kDownlink);
  const auto& up = summary.direction(model::Direction::kUplink);
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  fmt::print(
      "{} events, {} UEs: {:.2f} million events/s, {} + {} of {} + {} journeys complete, "
      "at most {} units and {} MB in memory\n",
      totals.events, ues, static_cast<double>(totals.events) * 1e3 / static_cast<double>(spent_ns),
      down.complete, up.complete, down.count(), up.count(), totals.peak_units,
      usage.ru_maxrss / 1024);
  return down.complete == 0;
}

}  // namespace
}  // namespace sojourn

int main(int argc, char** argv) {
  const auto number = [&](int index, std::uint64_t otherwise) {
    return argc > index ? std::strtoull(argv[index], nullptr, 10) : otherwise;
  };
  return sojourn::run(number(1, 1'000'000), number(2, 20), number(3, 1000));
}
