// The queues of a trace for programs. Keys are stable; docs/queues.md lists them.
#include <utility>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "analysis/present/queues/depth_json.h"
#include "analysis/present/queues/flow_json.h"
#include "analysis/present/queues/queues_content.h"
#include "analysis/present/words/completeness_words.h"
#include "analysis/trace/completeness.h"

namespace sojourn::present {

using nlohmann::ordered_json;

namespace {

// Beyond 2^53 a number is not one in every reader of JSON.
std::string id_text(std::uint64_t id) {
  return fmt::format("{:x}", id);
}

ordered_json side_json(const model::QueueSide& side) {
  return {{"stage", side.stage}, {"instance", side.instance}, {"pid", side.pid}};
}

ordered_json about_json(const model::QueueInfo& about) {
  return {{"id", id_text(about.id)},
          {"name", about.name},
          {"kind", name(about.kind)},
          {"producer", side_json(about.producer)},
          {"consumer", side_json(about.consumer)},
          {"group", about.group},
          {"capacity", about.capacity}};
}

ordered_json stretches_json(const queues::Stretches& stretches) {
  return {{"count", stretches.count},
          {"total_ns", stretches.total_ns},
          {"longest_ns", stretches.longest_ns}};
}

ordered_json gauge_json(const queues::SampledQueue& stats, bool depths) {
  const queues::Gauge& gauge = stats.gauge;
  const queues::DepthHistogram& levels = gauge.levels();
  ordered_json object = {
      {"samples", gauge.samples()},
      {"changes", gauge.rows()},
      {"unsettled", gauge.unsettled()},
      {"sample_ns", {{"mean", gauge.mean_span_ns()}, {"max", gauge.longest_span_ns()}}},
      {"longest_gap_ns", gauge.longest_gap_ns()},
      {"first_ns", gauge.first_ns()},
      {"last_ns", gauge.last_ns()},
      {"depth",
       {{"mean", levels.mean()},
        {"p50", levels.quantile(0.5)},
        {"p99", levels.quantile(0.99)},
        {"max", gauge.max_depth()},
        {"max_at_ns", gauge.max_at_ns()},
        {"last", gauge.depth_now()}}},
      {"empty", stretches_json(gauge.empty_stretches())},
      {"full", stretches_json(gauge.full_stretches())},
      {"in", gauge.in()},
      {"out", gauge.out()},
      {"counters", {{"in", gauge.last().in}, {"out", gauge.last().out}}},
      {"arrivals_per_s", stats.arrivals_per_s()},
      {"services_per_s", stats.services_per_s()},
      {"utilisation", optional_json(stats.utilisation())},
      {"mean_wait_s", optional_json(stats.mean_wait_s())}};
  if (depths) add_details(object, levels, gauge.series());
  return object;
}

// Null if the items inside are unknown.
ordered_json mark_json(const queues::SampledQueue& stats, const queues::HighWaterMark* mark) {
  ordered_json object = {{"depth", stats.gauge.max_depth()},
                         {"ts_ns", stats.gauge.max_at_ns()},
                         {"journeys", nullptr},
                         {"inside", nullptr}};
  if (mark != nullptr) object.update({{"journeys", mark->journeys}, {"inside", mark->inside}});
  return object;
}

ordered_json changes_json(const trace::Reader& reader) {
  ordered_json list = ordered_json::array();
  for (const model::QueueChange& change : reader.queue_changes())
    list.push_back({{"event", name(change.event)},
                    {"after_ns", change.after_ns},
                    {"ts_ns", change.ts_ns},
                    {"queue", about_json(change.about)}});
  return list;
}

ordered_json sampling_json(const model::Sampling& sampling) {
  return {{"mode", name(sampling.mode)},
          {"period_ns", sampling.period_ns},
          {"cpu", sampling.cpu},
          {"passes", sampling.passes},
          {"missed", sampling.missed},
          {"held_back", sampling.held_back},
          {"looks", sampling.looks},
          {"pass_ns", sampling.pass_ns},
          {"longest_ns", sampling.longest_ns},
          {"cpu_ns", sampling.cpu_ns},
          {"refused", sampling.refused}};
}

ordered_json comparisons_json(const queues::Verifier& verifier) {
  ordered_json queues = ordered_json::array();
  for (const queues::CounterComparison& comparison : verifier.comparisons())
    queues.push_back({{"id", id_text(comparison.id)},
                      {"compared", comparison.compared},
                      {"equal", comparison.equal},
                      {"in_race", comparison.in_race},
                      {"different", comparison.different},
                      {"in_by_events", comparison.in_by_events},
                      {"in_by_counters", comparison.in_by_counters},
                      {"out_by_events", comparison.out_by_events},
                      {"out_by_counters", comparison.out_by_counters}});
  ordered_json list = ordered_json::array();
  for (const queues::Discrepancy& one : verifier.discrepancies())
    list.push_back({{"id", id_text(one.queue)},
                    {"since_ns", one.since_ns},
                    {"ts_ns", one.ts_ns},
                    {"samples", one.samples},
                    {"sampled_depth", one.sampled_depth},
                    {"event_depth", one.event_depth},
                    {"cause", one.events_lost ? "lost events" : "none found"}});
  return {{"queues", std::move(queues)},
          {"discrepancies", std::move(list)},
          {"discrepancies_in_all", verifier.discrepancies_in_all()}};
}

}  // namespace

ordered_json queues_json(const QueuesContent& content) {
  const queues::QueueSurvey& survey = content.survey;
  ordered_json queues = ordered_json::array();
  for (const queues::SampledQueue& stats : survey.sampled().queues()) {
    ordered_json object = about_json(stats.about);
    object["appeared_ns"] = stats.appeared_ns;
    object["ended_ns"] = stats.ended_ns;
    object.update(gauge_json(stats, content.has_depths));
    object["high_water"] = mark_json(stats, survey.marks().find(stats.about.id));
    queues.push_back(std::move(object));
  }
  ordered_json document = {{"sampling", sampling_json(content.reader.sampling())},
                           {"queues", std::move(queues)},
                           {"changes", changes_json(content.reader)}};
  if (survey.verifier() != nullptr) document["verify"] = comparisons_json(*survey.verifier());
  document["operations"] =
      operations_json(survey.operations(), survey.threads(), content.has_depths);
  document["places"] =
      places_json(survey.places(), survey.topology(), survey.threads(), content.has_depths);
  document["file"] = completeness_json(trace::completeness_of(content.reader));
  document["pressure"] = chains_json(content.pressure.chains, content.pressure.names);
  if (!content.where.empty()) document["where"] = content.where;
  return document;
}

}  // namespace sojourn::present
