#include "analysis/present/report/costs_part.h"

#include <algorithm>
#include <numeric>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "analysis/present/words/table.h"
#include "analysis/present/words/text_format.h"
#include "analysis/report/costs.h"

namespace sojourn::present {

namespace {

std::string point_name(const ReportContent& content, std::size_t point) {
  const model::Point& about = content.facts.schema.points[point];
  return fmt::format("{} {}", letter(about.direction), about.name());
}

std::string megabytes(std::uint64_t bytes) {
  return fmt::format("{:.0f} MB", static_cast<double>(bytes) / 1e6);
}

}  // namespace

std::string costs_text(const ReportContent& content) {
  const model::Capture& capture = content.facts.capture;
  const report::Costs costs = report::costs_of(capture, content.facts.ledger, content.totals);
  if (!costs.share) return "what tracing took is not known: this trace has no costs\n";
  std::vector<std::size_t> order(costs.points.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::stable_sort(order, std::greater{},
                           [&](std::size_t point) { return costs.points[point].took_ns; });
  Table table({"what tracing took", "hits", "a hit", "in all", "of the target's CPU"});
  for (const std::size_t point : order) {
    const report::PointCosts& of_point = costs.points[point];
    if (of_point.hits == 0) continue;
    table.row({"  " + point_name(content, point), count(of_point.hits),
               of_point.hit_ps == 0 ? "?" : duration(static_cast<double>(of_point.hit_ps) / 1e3),
               duration(of_point.took_ns),
               percent(of_point.took_ns / static_cast<double>(capture.target_cpu_ns))});
  }
  table.row({"  all", "", "", duration(costs.took_ns), percent(*costs.share)});
  std::string text = table.text();
  text += fmt::format("\nthe tracer itself: {} of CPU time, {} of memory at most",
                      duration(static_cast<double>(capture.tracer_cpu_ns)),
                      megabytes(capture.tracer_rss_bytes));
  if (capture.longest_starved_ns != 0)
    text += fmt::format("; it waited {} for a processor at the longest",
                        duration(static_cast<double>(capture.longest_starved_ns)));
  text += '\n';
  if (capture.stamp_delay_ns != 0)
    text += fmt::format("eBPF's stamps are {} after their hits, which is corrected",
                        duration(static_cast<double>(capture.stamp_delay_ns)));
  if (capture.stamp_error_ns != 0)
    text += fmt::format("{}stamps{} may be off by {}", capture.stamp_delay_ns != 0 ? "; " : "",
                        capture.hosts.empty() ? "" : " of two hosts",
                        duration(static_cast<double>(capture.stamp_error_ns)));
  return text + '\n';
}

nlohmann::ordered_json costs_json(const ReportContent& content) {
  const model::Capture& capture = content.facts.capture;
  const report::Costs costs = report::costs_of(capture, content.facts.ledger, content.totals);
  auto points = nlohmann::ordered_json::array();
  for (std::size_t point = 0; point < costs.points.size(); ++point)
    points.push_back({{"name", content.facts.schema.points[point].name()},
                      {"hits", costs.points[point].hits},
                      {"hit_ns", static_cast<double>(costs.points[point].hit_ps) / 1e3},
                      {"hit_spread_ns", static_cast<double>(costs.points[point].spread_ps) / 1e3},
                      {"took_ns", costs.points[point].took_ns}});
  auto shed = nlohmann::ordered_json::array();
  for (const model::ShedSpan& span : capture.shed) {
    nlohmann::ordered_json point = nullptr;
    if (span.point < content.facts.schema.points.size())
      point = content.facts.schema.points[span.point].name();
    shed.push_back({{"point", point}, {"from_ns", span.from_ns}, {"until_ns", span.until_ns}});
  }
  return {{"took_ns", costs.took_ns},
          {"share",
           costs.share ? nlohmann::ordered_json(*costs.share) : nlohmann::ordered_json(nullptr)},
          {"tracer_rss_bytes", capture.tracer_rss_bytes},
          {"longest_starved_ns", capture.longest_starved_ns},
          {"stamp_delay_ns", capture.stamp_delay_ns},
          {"stamp_error_ns", capture.stamp_error_ns},
          {"points", std::move(points)},
          {"shed", std::move(shed)}};
}

}  // namespace sojourn::present
