#include "analysis/differential/segment_ranking.h"

#include <algorithm>
#include <cmath>
#include <tuple>

#include "analysis/differential/anderson_darling.h"
#include "analysis/differential/blocks.h"
#include "analysis/differential/multiple_tests.h"

namespace sojourn::differential {
namespace {

// The packets of all runs that were in a place, one run after the other.
struct There {
  std::vector<float> stays;
  std::vector<float> latencies;
  std::vector<std::vector<float>> by_run;  // stays
  double ns = 0;
};

There those_in(const std::string& place, std::span<const RunOfPackets> runs) {
  There there;
  for (const RunOfPackets& run : runs) {
    auto& stays = there.by_run.emplace_back();
    const auto found = std::ranges::find(
        run.stays_ns, place, [](const auto& pair) -> const auto& { return pair.first; });
    if (found == run.stays_ns.end()) continue;
    for (std::size_t at = 0; at < found->second.size(); ++at) {
      const float stay = found->second[at];
      if (std::isnan(stay)) continue;
      stays.push_back(stay);
      there.stays.push_back(stay);
      there.latencies.push_back(run.latency_ns[at]);
      there.ns += static_cast<double>(stay);
    }
  }
  return there;
}

// Blocks over all runs, each of one run mostly; 0: too little data for intervals.
std::size_t blocks_of(const std::vector<std::vector<float>>& by_run) {
  std::size_t blocks = 0;
  for (const auto& run : by_run)
    if (const auto cut = independent_blocks(run, effective_size(run))) blocks += cut->count;
  return std::min(blocks, kMaxBlocks);
}

void correlate(RankedSegment& segment, const There& there, std::size_t blocks) {
  segment.has_intervals = blocks >= kMinBlocks;
  const std::size_t parts = segment.has_intervals ? blocks : kMinBlocks;
  segment.pearson = pearson(there.stays, there.latencies, parts);
  segment.spearman = spearman(there.stays, there.latencies, parts);
}

// Computes what latencies would be if no packet were in the place for longer than the median.
void win(RankedSegment& segment, const There& there, std::span<const RunOfPackets> runs,
         double mean_ns, std::size_t packets) {
  std::vector<float> stays = there.stays;
  segment.median_ns = quantile(stays, 0.5);
  const auto median = static_cast<float>(segment.median_ns);
  std::vector<float> latencies;
  latencies.reserve(packets);
  double won = 0;
  for (const RunOfPackets& run : runs) {
    const auto found = std::ranges::find(
        run.stays_ns, segment.name, [](const auto& pair) -> const auto& { return pair.first; });
    for (std::size_t at = 0; at < run.latency_ns.size(); ++at) {
      const float stay = found == run.stays_ns.end() ? 0 : found->second[at];
      const float over = std::isnan(stay) || stay <= median ? 0 : stay - median;
      won += static_cast<double>(over);
      latencies.push_back(run.latency_ns[at] - over);
    }
  }
  segment.mean_if_median_ns = mean_ns - won / static_cast<double>(packets);
  segment.p99_if_median_ns = quantile(latencies, 0.99);
}

void compare_runs(RankedSegment& segment, const There& there) {
  const std::size_t length = common_block_length(there.by_run);
  std::vector<std::vector<double>> samples;
  for (const auto& run : there.by_run) {
    const Blocks blocks = blocks_of_length(run, length);
    if (blocks.count < kMinBlocks) return;
    auto& means = samples.emplace_back();
    for (std::size_t block = 0; block < blocks.count; ++block)
      means.push_back(mean(blocks.of(run, block)));
  }
  if (const auto found = anderson_darling(samples)) segment.p = p_value(samples, *found).midrank;
}

void judge(std::vector<RankedSegment>& segments, double level, Adjustment adjustment) {
  std::vector<double> p_values;
  for (const RankedSegment& segment : segments)
    if (segment.p) p_values.push_back(*segment.p);
  const auto adjusted_p = adjusted(p_values, adjustment);
  std::size_t next = 0;
  for (RankedSegment& segment : segments) {
    if (!segment.p) continue;
    segment.adjusted_p = adjusted_p[next++];
    segment.between_runs = segment.adjusted_p <= level ? Verdict::kChanged : Verdict::kSame;
  }
}

}  // namespace

double criticality(const RankedSegment& segment) {
  return segment.share * (segment.spearman ? std::max(segment.spearman->value, 0.0) : 0);
}

SegmentRanking rank_segments(char direction, std::span<const RunOfPackets> runs, double level,
                             Adjustment adjustment) {
  SegmentRanking ranking = {.direction = direction, .runs = runs.size(), .segments = {}};
  std::vector<float> latencies;
  std::vector<std::string> names;
  for (const RunOfPackets& run : runs) {
    latencies.insert(latencies.end(), run.latency_ns.begin(), run.latency_ns.end());
    ranking.effective += effective_size(run.latency_ns).count;
    for (const auto& [name, stays] : run.stays_ns)
      if (std::ranges::find(names, name) == names.end()) names.push_back(name);
  }
  if (latencies.empty()) return ranking;
  ranking.packets = latencies.size();
  ranking.mean_ns = mean(std::span<const float>(latencies));
  ranking.p99_ns = quantile(latencies, 0.99);
  const double all_ns = ranking.mean_ns * static_cast<double>(ranking.packets);
  for (const std::string& name : names) {
    const There there = those_in(name, runs);
    if (there.stays.empty()) continue;
    RankedSegment segment = {.name = name,
                             .packets = there.stays.size(),
                             .share = all_ns == 0 ? 0 : there.ns / all_ns,
                             .pearson = std::nullopt,
                             .spearman = std::nullopt,
                             .p = std::nullopt};
    correlate(segment, there, blocks_of(there.by_run));
    win(segment, there, runs, ranking.mean_ns, latencies.size());
    if (runs.size() > 1) compare_runs(segment, there);
    ranking.segments.push_back(std::move(segment));
  }
  judge(ranking.segments, level, adjustment);
  std::ranges::stable_sort(ranking.segments, std::ranges::greater(), [](const RankedSegment& each) {
    return std::tuple(each.between_runs == Verdict::kChanged, criticality(each), each.share);
  });
  return ranking;
}

}  // namespace sojourn::differential
