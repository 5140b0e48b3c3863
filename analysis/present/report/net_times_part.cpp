#include "analysis/present/report/net_times_part.h"

#include <algorithm>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include "analysis/base/count_text.h"
#include "analysis/journeys/path_order.h"
#include "analysis/present/words/json_format.h"
#include "analysis/present/words/text_format.h"
#include "analysis/report/hit_error.h"

namespace sojourn::present {

namespace {

using statistics::Distribution;

// The share of a direction's latency from which on the report has a line about it.
constexpr double kWorthALine = 0.01;

double part_of(double measured, double net) {
  return measured > 0 ? std::clamp(1 - net / measured, 0.0, 1.0) : 0;
}

double share_of(const Distribution& measured, const Distribution& net) {
  if (measured.count() == 0 || net.count() == 0) return 0;
  return std::max(
      part_of(measured.mean(), net.mean()),
      part_of(static_cast<double>(measured.quantile(0.5)), static_cast<double>(net.quantile(0.5))));
}

bool is_longer_than(const Distribution& measured, double ns) {
  return measured.count() == 0 || static_cast<double>(measured.quantile(0.5)) > ns;
}

// The share of tracing in the latencies, e.g. "2.1 % of D's latency, 0.4 % of U's, more than a
// tenth of the time in 3 places"; empty if it is too small for a line. Stays of some nanoseconds
// may be nothing but tracing. So the places are counted, as the tables have them: their largest
// share would alarm and mean little.
std::string shares_words(const ReportContent& content) {
  std::vector<std::string> parts;
  for (const auto direction : model::kPacketDirections) {
    const double share = tracing_share(content, direction).value_or(0);
    if (share < kWorthALine) continue;
    parts.push_back(fmt::format("{} of {}'s{}", percent(share), model::letter(direction),
                                parts.empty() ? " latency" : ""));
  }
  const auto places = std::ranges::count_if(
      journeys::stays_by_place(content.topology), [&](const std::vector<std::size_t>& pairs) {
        return tracing_share(content, pairs).value_or(0) > kMuchTracing;
      });
  if (places > 0)
    parts.push_back(fmt::format("more than a tenth of the time in {}",
                                counted(static_cast<std::uint64_t>(places), "place")));
  return fmt::format("{}", fmt::join(parts, ", "));
}

struct CostRange {
  std::uint64_t least_ps = UINT64_MAX;
  std::uint64_t most_ps = 0;
  double spread = 0;  // of a hit's cost
};

// The range over the points that were hit.
CostRange costs_of_hits(const ReportContent& content) {
  const model::Capture& capture = content.facts.capture;
  CostRange costs;
  for (std::size_t point = 0; point < capture.hit_cost_ps.size(); ++point) {
    const std::uint64_t ps = capture.hit_cost_ps[point];
    if (ps == 0 || point >= content.totals.points.size() ||
        content.totals.points[point].events == 0)
      continue;
    costs.least_ps = std::min(costs.least_ps, ps);
    costs.most_ps = std::max(costs.most_ps, ps);
    if (point < capture.hit_spread_ps.size())
      costs.spread = std::max(costs.spread, static_cast<double>(capture.hit_spread_ps[point]) /
                                                static_cast<double>(ps));
  }
  return costs;
}

std::string words(const CostRange& costs) {
  const auto ns = [](std::uint64_t ps) { return duration(static_cast<double>(ps) / 1e3); };
  return (ns(costs.least_ps) == ns(costs.most_ps)
              ? ns(costs.most_ps)
              : fmt::format("{} to {}", ns(costs.least_ps), ns(costs.most_ps))) +
         fmt::format(" a hit, +- {}", percent(costs.spread));
}

}  // namespace

bool shows_net_times(const ReportContent& content) {
  return !content.is_raw && content.summary.has_net_times();
}

const Distribution& latency_of(const ReportContent& content, model::Direction direction) {
  const report::DirectionSummary& summary = content.summary.direction(direction);
  return shows_net_times(content) ? summary.net_latency_ns : summary.latency_ns;
}

const Distribution& stay_of(const ReportContent& content, std::size_t pair) {
  return shows_net_times(content) ? content.summary.net_hop(pair) : content.summary.hop(pair);
}

double critical_path_ns_of(const ReportContent& content, std::size_t place) {
  const report::PlaceSummary& summary = content.summary.place(place);
  return shows_net_times(content) ? summary.net_critical_path_ns : summary.critical_path_ns;
}

std::optional<double> tracing_share(const ReportContent& content, model::Direction direction) {
  double error_ns = 0;
  for (const journeys::Pair& pair : content.topology.pairs)
    if (content.topology.points[pair.parent].direction == direction)
      error_ns = std::max(error_ns, report::hit_error_ns(content.facts.capture, pair.parent));
  const report::DirectionSummary& summary = content.summary.direction(direction);
  if (!is_longer_than(summary.latency_ns, error_ns)) return std::nullopt;
  return share_of(summary.latency_ns, summary.net_latency_ns);
}

std::optional<double> tracing_share(const ReportContent& content,
                                    std::span<const std::size_t> pairs) {
  if (!content.summary.has_net_times()) return 0;
  Distribution measured;
  Distribution net;
  double error_ns = 0;
  for (const std::size_t pair : pairs) {
    measured.merge(content.summary.hop(pair));
    net.merge(content.summary.net_hop(pair));
    error_ns = std::max(
        error_ns, report::hit_error_ns(content.facts.capture, content.topology.pairs[pair].parent));
  }
  if (!is_longer_than(measured, error_ns)) return std::nullopt;
  return share_of(measured, net);
}

std::string net_times_text(const ReportContent& content) {
  if (!content.summary.has_net_times()) {
    const bool traps = content.facts.capture.engine == model::Engine::kBpf &&
                       !content.facts.capture.attach.empty();
    return traps ? wrapped(
                       "times include what tracing took: this trace does not say well enough "
                       "what a hit cost",
                       2, content.width) +
                       "\n"
                 : "";
  }
  const std::string shares = shares_words(content);
  if (shares.empty()) return "";
  const std::string costs = words(costs_of_hits(content));
  const std::string sentence =
      content.is_raw
          ? fmt::format("times include what tracing took: {} ({})", shares, costs)
          : fmt::format("times are without what tracing took: {} ({}); --raw: as measured", shares,
                        costs);
  std::string text = wrapped(sentence, 2, content.width) + "\n";
  if (content.summary.forgotten() != 0)
    text += fmt::format("{} stays reach too far back to be corrected in full\n",
                        count(content.summary.forgotten()));
  return text;
}

void add_net_times(const ReportContent& content, const Distribution& net,
                   std::optional<double> share, nlohmann::ordered_json& row) {
  if (!content.summary.has_net_times()) return;
  row["net_latency_us"] = times_json(net);
  row["tracing_share"] = share ? nlohmann::ordered_json(*share) : nlohmann::ordered_json(nullptr);
}

}  // namespace sojourn::present
