#include "analysis/report/target_spans.h"

#include <algorithm>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "analysis/report/report.h"
#include "analysis/report/table.h"
#include "analysis/report/text_format.h"

namespace sojourn::report {
namespace {

using nlohmann::ordered_json;

constexpr std::string_view kField = "dur_ns";
constexpr std::size_t kMaxRows = 30;

std::string name(const ReportContent& content, const TargetSpans::Span& span) {
  return printable(content.facts.schema.points[span.point].name());
}

// Of the time; several threads may do the same at once.
double share(const ReportContent& content, const TargetSpans::Span& span) {
  return span.times_ns->sum() / 1e9 / std::max(content.duration_s(), 1e-9);
}

}  // namespace

TargetSpans::TargetSpans(const model::Schema& schema)
    : fields_(schema.points.size()), times_ns_(schema.points.size()) {
  for (std::size_t i = 0; i < fields_.size(); ++i) {
    if (schema.points[i].direction != model::Direction::kScalar) continue;
    fields_[i] = schema.points[i].field(kField);
    may_be_some_ = may_be_some_ || fields_[i].has_value();
  }
}

void TargetSpans::consume(const model::EventBatch& events) {
  if (!may_be_some_) return;
  for (std::size_t row = 0; row < events.size(); ++row) {
    const auto point = events.point()[row];
    if (point >= fields_.size() || !fields_[point]) continue;
    const auto values = events[row].values;
    if (*fields_[point] < values.size()) times_ns_[point].add(values[*fields_[point]]);
  }
}

bool TargetSpans::empty() const {
  return std::ranges::all_of(times_ns_, [](const auto& times) { return times.count() == 0; });
}

std::vector<TargetSpans::Span> TargetSpans::all() const {
  std::vector<Span> spans;
  for (std::size_t i = 0; i < times_ns_.size(); ++i)
    if (times_ns_[i].count() > 0) spans.push_back({static_cast<model::PointId>(i), &times_ns_[i]});
  std::ranges::stable_sort(spans, std::ranges::greater(),
                           [](const Span& span) { return span.times_ns->sum(); });
  return spans;
}

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

}  // namespace sojourn::report
