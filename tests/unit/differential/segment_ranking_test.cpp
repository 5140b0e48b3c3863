#include "analysis/differential/segment_ranking.h"

#include <cmath>
#include <random>
#include <string>
#include <vector>

#include <catch2/catch_approx.hpp>
#include <catch2/catch_test_macros.hpp>

#include "analysis/differential/packet_table.h"

namespace sojourn::differential {
namespace {

using Catch::Approx;

// `queue` decides, `copy` takes as long but always the same, `rare` is passed by one in ten.
RunOfPackets made(std::uint64_t seed, double copy_ns = 1000) {
  std::mt19937_64 random(seed);
  std::exponential_distribution<double> time(1 / 1000.0);
  std::normal_distribution<double> noise(0, 10);
  RunOfPackets run;
  run.stays_ns = {{"copy", {}}, {"queue", {}}, {"rare", {}}};
  for (unsigned at = 0; at < 20'000; ++at) {
    const auto copy = static_cast<float>(copy_ns + noise(random));
    const auto queue = static_cast<float>(time(random));
    const float rare = at % 10 == 0 ? 50.0F : kNotThere;
    run.stays_ns[0].second.push_back(copy);
    run.stays_ns[1].second.push_back(queue);
    run.stays_ns[2].second.push_back(rare);
    run.latency_ns.push_back(copy + queue + (std::isnan(rare) ? 0 : rare));
  }
  return run;
}

const RankedSegment& segment(const SegmentRanking& ranking, const std::string& name) {
  for (const RankedSegment& each : ranking.segments)
    if (each.name == name) return each;
  FAIL("no segment " + name);
  return ranking.segments.front();
}

TEST_CASE("the place that correlates with the latency comes first, however long the others take") {
  const std::vector<RunOfPackets> runs = {made(1)};
  const SegmentRanking ranking = rank_segments('D', runs, 0.05);
  REQUIRE(ranking.segments.size() == 3);
  CHECK(ranking.segments.front().name == "queue");
  const RankedSegment& queue = ranking.segments.front();
  REQUIRE((queue.pearson && queue.spearman));
  CHECK(queue.pearson->value > 0.99);
  CHECK(queue.has_intervals);
  CHECK(queue.pearson->low < queue.pearson->value);
  const RankedSegment& copy = segment(ranking, "copy");
  CHECK(copy.share == Approx(0.5).margin(0.02));
  CHECK(copy.pearson->value < 0.1);
  CHECK(copy.between_runs == Verdict::kTooLittle);  // one run says nothing of others
  const RankedSegment& rare = segment(ranking, "rare");
  CHECK(rare.packets == 2000);
  CHECK_FALSE(rare.pearson);  // it never changes
}

TEST_CASE("the possible gain is at most the latency with the place at its median") {
  const std::vector<RunOfPackets> runs = {made(2)};
  const SegmentRanking ranking = rank_segments('D', runs, 0.05);
  const RankedSegment& queue = segment(ranking, "queue");
  CHECK(queue.median_ns == Approx(1000 * std::log(2.0)).epsilon(0.05));
  // The mean of min(x, median) of exponential times with mean 1 is 1/2.
  CHECK(queue.mean_if_median_ns == Approx(ranking.mean_ns - 500).epsilon(0.02));
  CHECK(queue.p99_if_median_ns < 1900);
  CHECK(ranking.p99_ns > 5000);
  CHECK(segment(ranking, "rare").mean_if_median_ns == Approx(ranking.mean_ns));
}

TEST_CASE("a place that differs between runs of one program is marked and comes first") {
  const std::vector<RunOfPackets> alike = {made(3), made(4), made(5)};
  for (const RankedSegment& each : rank_segments('D', alike, 0.05).segments) {
    CAPTURE(each.name);
    CHECK(each.between_runs == Verdict::kSame);
  }
  const std::vector<RunOfPackets> different = {made(3), made(4), made(5, 1020)};
  const SegmentRanking ranking = rank_segments('D', different, 0.05);
  CHECK(ranking.segments.front().name == "copy");
  CHECK(ranking.segments.front().between_runs == Verdict::kChanged);
  CHECK(segment(ranking, "queue").between_runs == Verdict::kSame);
}

TEST_CASE("runs too short for blocks are too little data") {
  std::vector<RunOfPackets> runs = {made(6), made(7)};
  for (RunOfPackets& run : runs) {
    run.latency_ns.resize(20);
    for (auto& [name, stays] : run.stays_ns) stays.resize(20);
  }
  const SegmentRanking ranking = rank_segments('D', runs, 0.05);
  for (const RankedSegment& each : ranking.segments) {
    CHECK(each.between_runs == Verdict::kTooLittle);
    CHECK_FALSE(each.has_intervals);
  }
}

TEST_CASE("no packets have no ranking") {
  CHECK(rank_segments('D', std::vector<RunOfPackets>{{}}, 0.05).segments.empty());
}

}  // namespace
}  // namespace sojourn::differential
