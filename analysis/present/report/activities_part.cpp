#include "analysis/present/report/activities_part.h"

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

std::string name_of(const ReportContent& content, model::PointId point) {
  return content.facts.schema.points[point].name();
}

}  // namespace

std::string activities_text(const ReportContent& content) {
  std::string text;
  bool exact = true;
  if (!content.activities->activities().empty()) {
    Table table({"activity", "count", "mean", "p50", "p90", "p99", "p99.9", "max"});
    for (const auto& [point, times] : content.activities->activities()) {
      exact = exact && times.exact();
      const auto said = [&](double ns) { return times.count() == 0 ? "-" : duration(ns); };
      std::vector<std::string> cells = {"  " + printable(name_of(content, point)),
                                        count(times.count()), said(times.mean())};
      for (const double quantile : {0.5, 0.9, 0.99, 0.999})
        cells.push_back(said(static_cast<double>(times.quantile(quantile))));
      cells.push_back(said(static_cast<double>(times.max())));
      table.row(std::move(cells));
    }
    text += "\n" + table.text();
  }
  if (!content.activities->markers().empty()) {
    Table table({"marker", "count"});
    for (const auto& [point, times] : content.activities->markers())
      table.row({"  " + printable(name_of(content, point)), count(times)});
    text += "\n" + table.text();
  }
  if (!exact) text += kInexact;
  return text;
}

ordered_json activities_json(const ReportContent& content) {
  auto list = ordered_json::array();
  for (const auto& [point, times] : content.activities->activities())
    list.push_back({{"name", name_of(content, point)},
                    {"count", times.count()},
                    {"duration_us", times_json(times)}});
  return list;
}

ordered_json markers_json(const ReportContent& content) {
  auto list = ordered_json::array();
  for (const auto& [point, times] : content.activities->markers())
    list.push_back({{"name", name_of(content, point)}, {"count", times}});
  return list;
}

std::string script_text(const ReportScript& script) {
  if (script.kept == script.seen) return "";
  return fmt::format("only the {} of {} events that {} keeps", count(script.kept),
                     count(script.seen), printable(script.name));
}

ordered_json script_json(const ReportScript& script) {
  return {{"name", script.name}, {"events_seen", script.seen}, {"events_kept", script.kept}};
}

}  // namespace sojourn::present
