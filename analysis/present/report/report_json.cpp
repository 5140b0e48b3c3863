// The report for programs. Keys are stable; docs/journeys.md lists them.
#include <algorithm>
#include <span>
#include <vector>

#include <nlohmann/json.hpp>

#include "analysis/journeys/path_order.h"
#include "analysis/model/redacted_mark.h"
#include "analysis/model/unread.h"
#include "analysis/present/report/activities_part.h"
#include "analysis/present/report/context_part.h"
#include "analysis/present/report/costs_part.h"
#include "analysis/present/report/counters_part.h"
#include "analysis/present/report/deadline_part.h"
#include "analysis/present/report/energy_part.h"
#include "analysis/present/report/net_times_part.h"
#include "analysis/present/report/report_content.h"
#include "analysis/present/report/spans_part.h"
#include "analysis/present/threads/threads_content.h"
#include "analysis/present/words/completeness_words.h"
#include "analysis/present/words/json_format.h"

namespace sojourn::present {
namespace {

using nlohmann::ordered_json;

double us(double ns) {
  return ns / 1e3;
}

ordered_json direction(const ReportContent& content, model::Direction which) {
  const report::DirectionSummary& summary = content.summary.direction(which);
  ordered_json object = {
      {"count", summary.count()},
      {"complete", summary.complete},
      {"censored", summary.censored},
      {"inside", summary.inside},
      {"before_open", summary.before_open},
      {"incomplete", summary.incomplete},
      {"dropped", summary.dropped},
      {"ambiguous", summary.ambiguous},
      {"in_pieces", summary.in_pieces},
      {"repeated", summary.repeated},
      {"at_one_point", summary.at_one_point},
      {"latency_us", summary.is_timeless() ? ordered_json() : times_json(summary.latency_ns)}};
  if (!summary.is_timeless())
    add_net_times(content, summary.net_latency_ns, tracing_share(content, which), object);
  return object;
}

std::string dir(model::Direction direction) {
  return std::string(1, letter(direction));
}

ordered_json hops(const ReportContent& content) {
  auto list = ordered_json::array();
  for (std::size_t i = 0; i < content.topology.pairs.size(); ++i) {
    const auto& pair = content.topology.pairs[i];
    const auto& samples = content.summary.hop(i);
    if (samples.count() == 0) continue;
    const auto& place = content.topology.places[pair.place];
    list.push_back({{"dir", dir(place.direction)},
                    {"at", place.name},
                    {"from", content.facts.schema.points[pair.parent].src},
                    {"to", content.facts.schema.points[pair.child].dest},
                    {"count", samples.count()},
                    {"latency_us", times_json(samples)}});
    if (content.summary.has_net_times())
      add_net_times(content, content.summary.net_hop(i), tracing_share(content, std::span(&i, 1)),
                    list.back());
  }
  return list;
}

bool was_left(const ReportContent& content, std::size_t place) {
  for (std::size_t i = 0; i < content.topology.pairs.size(); ++i)
    if (content.topology.pairs[i].place == place && content.summary.hop(i).count() != 0)
      return true;
  return false;
}

// In the order of the text; places without a hop come last.
std::vector<std::size_t> shown_places(const ReportContent& content) {
  std::vector<std::size_t> order;
  for (const auto place : journeys::places_in_order(content.topology)) order.push_back(place);
  for (std::size_t place = 0; place < content.topology.places.size(); ++place)
    if (std::ranges::find(order, place) == order.end()) order.push_back(place);
  return order;
}

// Null where all units that left the place were dropped or acknowledged.
ordered_json stays_json(const ReportContent& content, std::size_t place) {
  statistics::Distribution stays;
  for (std::size_t pair = 0; pair < content.topology.pairs.size(); ++pair)
    if (content.topology.pairs[pair].place == place && journeys::is_stay(content.topology, pair))
      stays.merge(content.summary.hop(pair));
  return stays.count() == 0 ? ordered_json() : times_json(stays);
}

// For a selection of journeys the number of units in a place at once is unknown: null.
ordered_json queues(const ReportContent& content) {
  auto list = ordered_json::array();
  for (const std::size_t i : shown_places(content)) {
    const auto& place = content.summary.place(i);
    const bool knows_depth = place.depth.entered() != 0;
    if (!knows_depth && !was_left(content, i)) continue;
    const auto of_depth = [&](const auto& value) {
      return knows_depth ? ordered_json(value) : ordered_json();
    };
    list.push_back(
        {{"name", content.topology.places[i].name},
         {"dir", dir(content.topology.places[i].direction)},
         {"kind", "in flight"},
         {"max", of_depth(place.depth.max())},
         {"p50", of_depth(place.depth.quantile(0.5))},
         {"mean", of_depth(place.depth.mean())},
         {"little", of_depth(place.depth.arrivals_times_stay())},
         {"given_up", of_depth(ordered_json({{"count", place.never_left()},
                                             {"depth_share", place.never_left_share()}}))},
         {"depth_known", knows_depth && place.is_depth_known()},
         {"stay_us", stays_json(content, i)},
         {"decisive_us", us(place.critical_path_ns)}});
    if (content.summary.has_net_times())
      list.back()["net_decisive_us"] = us(place.net_critical_path_ns);
  }
  return list;
}

ordered_json inside(const ReportContent& content) {
  auto list = ordered_json::array();
  for (std::size_t i = 0; i < content.topology.places.size(); ++i) {
    const auto& place = content.summary.place(i);
    if (place.inside_ns.count() == 0) continue;
    list.push_back({{"dir", dir(content.topology.places[i].direction)},
                    {"at", content.topology.places[i].name},
                    {"packets", place.inside_ns.count()},
                    {"since_us", times_json(place.inside_ns)},
                    {"oldest_us", us(static_cast<double>(place.oldest_inside_ns))}});
  }
  return list;
}

ordered_json points(const ReportContent& content) {
  auto list = ordered_json::array();
  for (std::size_t i = 0; i < content.topology.points.size(); ++i) {
    if (!content.topology.points[i].of_target) continue;
    const auto& point = content.facts.schema.points[i];
    const auto& totals = content.totals.points[i];
    list.push_back({{"name", point.name()},
                    {"dir", dir(point.direction)},
                    {"events", totals.events},
                    {"control", totals.control},
                    {"repeats", totals.repeats},
                    {"cut", totals.cut},
                    {"orphans", totals.orphans},
                    {"ambiguous", totals.ambiguous},
                    {"malformed", totals.malformed}});
    if (model::unread_field(point)) list.back()["unread"] = totals.unread;
  }
  return list;
}

ordered_json ledger(const ReportContent& content) {
  auto list = ordered_json::array();
  for (const auto& entry : content.facts.ledger) {
    if (entry.count == 0) continue;
    const bool known = entry.point < content.facts.schema.points.size();
    ordered_json point = nullptr;
    if (known) point = content.facts.schema.points[entry.point].name();
    list.push_back({{"stream", entry.stream},
                    {"point", point},
                    {"cause", model::name(entry.cause)},
                    {"count", entry.count}});
  }
  return list;
}

ordered_json targets(const ReportContent& content) {
  auto list = ordered_json::array();
  for (const auto& target : content.facts.targets) {
    list.push_back({{"pid", target.pid},
                    {"name", target.name},
                    {"exe", target.exe},
                    {"build_id", target.build_id},
                    {"parent", target.parent == 0 ? ordered_json() : ordered_json(target.parent)},
                    {"since_ns", target.since_ns},
                    {"until_ns", target.until_ns}});
  }
  return list;
}

ordered_json unarmed(const ReportContent& content) {
  auto list = ordered_json::array();
  const auto& points = content.facts.schema.points;
  for (const auto& span : content.facts.capture.unarmed) {
    ordered_json point = nullptr;
    if (span.point < points.size()) point = points[span.point].name();
    list.push_back({{"pid", span.pid},
                    {"point", point},
                    {"from_ns", span.from_ns},
                    {"until_ns", span.until_ns}});
  }
  return list;
}

}  // namespace

ordered_json report_json(const ReportContent& content) {
  const auto& facts = content.facts;
  const auto& totals = content.totals;
  ordered_json report;
  report["target"] = {{"pid", facts.targets.front().pid}, {"name", facts.targets.front().name}};
  report["targets"] = targets(content);
  report["host"] = {{"kernel", facts.host.kernel}, {"cpu", facts.host.cpu_model}};
  if (!facts.capture.script.empty()) report["script"] = {{"name", facts.capture.script}};
  if (content.script) report["script"] = script_json(*content.script);
  if (content.selection) report["where"] = selection_json(*content.selection);
  report["events"] = totals.events;
  report["lost"] = facts.file.lost_or_missing();
  report["file"] = completeness_json(facts.file);
  report["duration_s"] = content.duration_s();
  report["open_ns"] = facts.capture.open_ns;
  report["close_ns"] = facts.capture.close_ns;
  report["tracer_cpu_ns"] = facts.capture.tracer_cpu_ns;
  report["target_cpu_ns"] = facts.capture.target_cpu_ns;
  if (const auto& hosts = facts.capture.hosts; !hosts.empty())
    report["clocks"] = {
        {"hosts", hosts.size()},
        {"between_hosts_ns", facts.capture.stamp_error_ns},
        {"on_one_host_ns",
         std::ranges::max(hosts, {}, &model::MergedHost::stamp_error_ns).stamp_error_ns}};
  report["journeys"] = {{"D", direction(content, model::Direction::kDownlink)},
                        {"U", direction(content, model::Direction::kUplink)}};
  if (content.deadline_ns) report["deadline"] = deadline_json(content);
  report["inside"] = inside(content);
  report["hops"] = hops(content);
  report["queues"] = queues(content);
  report["points"] = points(content);
  report["expired"] = {{"reuse", totals.expired_by_reuse},
                       {"time", totals.expired_by_time},
                       {"memory", totals.expired_by_memory},
                       {"crowded_events", totals.crowded}};
  report["mixed_senders"] = totals.mixed_senders;
  report["ledger"] = ledger(content);
  report["unarmed"] = unarmed(content);
  if (model::is_redacted(facts.capture)) report["redacted"] = true;
  if (!content.facts.capture.unplaced.empty()) report["unplaced"] = content.facts.capture.unplaced;
  if (!facts.capture.hit_cost_ps.empty()) report["tracing"] = costs_json(content);
  if (content.threads != nullptr)
    report["threads"] =
        threads_json({.survey = *content.threads, .duration_s = content.duration_s()});
  if (content.context != nullptr) report["context"] = context_json(*content.context);
  if (content.work != nullptr) report["counters"] = counters_json(content);
  if (content.spans != nullptr) report["spans"] = spans_json(content);
  report["energy"] = report_energy_json(content);
  if (content.activities != nullptr) {
    report["activities"] = activities_json(content);
    report["markers"] = markers_json(content);
  }
  return report;
}

}  // namespace sojourn::present
