#include "analysis/present/report/spans_part.h"

#include <algorithm>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "analysis/present/words/json_format.h"
#include "analysis/present/words/table.h"
#include "analysis/present/words/text_format.h"

namespace sojourn::present {
namespace {

using nlohmann::ordered_json;

constexpr std::size_t kMaxRows = 30;

std::string name(const ReportContent& content, const report::TargetSpans::Span& span) {
  return printable(content.facts.schema.points[span.point].name());
}

// The span's share of the time. It may exceed 1, because several threads may do the same at once.
double share(const ReportContent& content, const report::TargetSpans::Span& span) {
  return span.times_ns->sum() / 1e9 / std::max(content.duration_s(), 1e-9);
}

}  // namespace

std::string spans_text(const ReportContent& content) {
  Table table({"what it timed itself", "count", "share of time", "mean", "p50", "p90", "p99",
               "p99.9", "max"});
  const auto spans = content.spans->all();
  bool exact = true;
  for (std::size_t i = 0; i < std::min(spans.size(), kMaxRows); ++i) {
    const auto& times = *spans[i].times_ns;
    exact = exact && times.exact();
    std::vector<std::string> cells = {"  " + name(content, spans[i]), count(times.count()),
                                      percent(share(content, spans[i])), duration(times.mean())};
    for (const double quantile : {0.5, 0.9, 0.99, 0.999})
      cells.push_back(duration(static_cast<double>(times.quantile(quantile))));
    cells.push_back(duration(static_cast<double>(times.max())));
    table.row(std::move(cells));
  }
  std::string text = "\n" + table.text();
  if (spans.size() > kMaxRows)
    text += fmt::format("and {} more (--json has them)\n", spans.size() - kMaxRows);
  if (!exact) text += kInexact;
  return text;
}

ordered_json spans_json(const ReportContent& content) {
  auto list = ordered_json::array();
  for (const auto& span : content.spans->all())
    list.push_back({{"name", content.facts.schema.points[span.point].name()},
                    {"count", span.times_ns->count()},
                    {"share", share(content, span)},
                    {"duration_us", times_json(*span.times_ns)}});
  return list;
}

}  // namespace sojourn::present
