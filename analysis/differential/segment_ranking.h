// Ranks the places that decide the latency, and those that differ between runs of the same program,
// in one table with the most important segment first. A segment is a place on the path that decided
// a packet's latency. Plain functions without state.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "analysis/differential/comparison.h"
#include "analysis/differential/correlation.h"
#include "analysis/differential/multiple_tests.h"

namespace sojourn::differential {

struct RankedSegment {
  std::string name;
  std::uint64_t packets = 0;  // packets that were there
  double share = 0;           // of the time of all packets
  double median_ns = 0;
  // Correlation of the stay with the latency, over the packets that were in the place. Nothing if
  // one of the two is constant.
  std::optional<Correlation> pearson;
  std::optional<Correlation> spearman;
  bool has_intervals = false;  // else there are too few independent blocks for them
  // The latency, had every packet been there for no longer than the median: what can be won.
  double mean_if_median_ns = 0;
  double p99_if_median_ns = 0;
  // Between runs: k-sample Anderson-Darling over blocks of each.
  std::optional<double> p;
  double adjusted_p = 1;
  Verdict between_runs = Verdict::kTooLittle;
};

struct SegmentRanking {
  char direction = 'D';
  std::size_t runs = 0;
  std::uint64_t packets = 0;
  double effective = 0;  // independent packets that would say as much
  double mean_ns = 0;
  double p99_ns = 0;
  std::vector<RankedSegment> segments;  // differences between runs first, then by criticality()
};

// The criticality of a segment: its share of the time, times Spearman's coefficient of its stay and
// the latency (if that is positive).
double criticality(const RankedSegment& segment);

// The packets of one direction of a run: their latencies, and for each place, by its name, how long
// each packet stayed there (kNotThere: it did not).
struct RunOfPackets {
  std::vector<std::uint64_t> start_ns = {};
  std::vector<float> latency_ns;
  std::vector<std::pair<std::string, std::vector<float>>> stays_ns;
};
SegmentRanking rank_segments(char direction, std::span<const RunOfPackets> runs, double level,
                             Adjustment adjustment = Adjustment::kHolm);

}  // namespace sojourn::differential
