#include "analysis/present/live/live_json.h"

#include <nlohmann/json.hpp>

#include "analysis/present/causes/causes_content.h"
#include "analysis/present/words/field_text.h"

namespace sojourn::present {

namespace {

using nlohmann::ordered_json;

double live_us(std::uint64_t ns) {
  return static_cast<double>(ns) / 1e3;
}

double live_s(std::uint64_t ns, std::uint64_t since_ns) {
  return ns <= since_ns ? 0 : static_cast<double>(ns - since_ns) / 1e9;
}

std::string live_dir(model::Direction direction) {
  return std::string(1, letter(direction));
}

ordered_json quantiles(const live::Quantiles& times) {
  return {{"count", times.count},
          {"per_s", times.per_s},
          {"latency_us",
           {{"p50", live_us(times.p50_ns)},
            {"p90", live_us(times.p90_ns)},
            {"p99", live_us(times.p99_ns)},
            {"p999", live_us(times.p999_ns)},
            {"max", live_us(times.max_ns)}}}};
}

ordered_json live_share(const std::optional<double>& value) {
  return value ? ordered_json(*value) : ordered_json();
}

ordered_json journeys_of(const live::Snapshot& snapshot) {
  auto object = ordered_json::object();
  for (const live::DirectionRow& row : snapshot.directions)
    object[live_dir(row.times.direction)] = {
        {"path", row.times.name},         {"complete", row.complete},
        {"dropped", row.dropped},         {"censored", row.censored},
        {"incomplete", row.incomplete},   {"window", quantiles(row.times.window)},
        {"all", quantiles(row.times.all)}};
  return object;
}

ordered_json worst_of(const live::Snapshot& snapshot) {
  auto list = ordered_json::array();
  for (const causes::Verdict& verdict : snapshot.worst)
    list.push_back({{"journey", verdict.journey},
                    {"dir", live_dir(verdict.direction)},
                    {"ids", ids_json(*snapshot.schema, verdict.ids)},
                    {"latency_us", live_us(verdict.latency_ns())},
                    {"end_s", live_s(verdict.end_ns, snapshot.open_ns)},
                    {"ambiguous", verdict.is_ambiguous},
                    {"why", sentence(verdict, *snapshot.names, *snapshot.topology)}});
  return list;
}

// A marker has no duration: only its count is shown.
ordered_json made_of(const std::vector<live::TimesRow>& rows) {
  auto list = ordered_json::array();
  for (const live::TimesRow& row : rows)
    list.push_back(
        {{"name", row.name}, {"window", quantiles(row.window)}, {"all", quantiles(row.all)}});
  return list;
}

}  // namespace

ordered_json live_json(const live::Snapshot& snapshot) {
  ordered_json object;
  object["t_s"] = live_s(snapshot.now_ns, snapshot.open_ns);
  object["now_ns"] = snapshot.now_ns;
  object["open_ns"] = snapshot.open_ns;
  object["ended"] = snapshot.has_ended;
  object["target"] = snapshot.target;
  object["pid"] = snapshot.pid;
  object["filter"] = snapshot.filter;
  object["window_s"] = snapshot.window_s;
  object["since_s"] = snapshot.since_s;
  object["events"] = snapshot.events;
  object["events_per_s"] = snapshot.events_per_s;
  object["lost"] = snapshot.lost;
  object["losses"] = ordered_json::object();
  for (const live::LossRow& row : snapshot.losses)
    object["losses"][std::string(model::name(row.cause))] = row.count;
  object["left_out"] = snapshot.left_out;
  object["damaged"] = snapshot.damaged;
  object["restarts"] = snapshot.restarts;
  object["sample"] = snapshot.sample ? ordered_json{{"owners", snapshot.sample->owners},
                                                    {"of", snapshot.sample->of},
                                                    {"events_share", snapshot.sample->events_share}}
                                     : ordered_json();
  object["tracing"] = {{"target_share", live_share(snapshot.cost_share)},
                       {"capture_cores", live_share(snapshot.tracer_cores)},
                       {"view_cores", live_share(snapshot.view_cores)}};
  object["journeys"] = journeys_of(snapshot);
  auto& hops = object["hops"] = ordered_json::array();
  for (const live::TimesRow& row : snapshot.places)
    hops.push_back({{"dir", live_dir(row.direction)},
                    {"at", row.name},
                    {"window", quantiles(row.window)},
                    {"all", quantiles(row.all)}});
  auto& queues = object["queues"] = ordered_json::array();
  for (const live::QueueRow& row : snapshot.queues)
    queues.push_back({{"dir", live_dir(row.direction)},
                      {"name", row.name},
                      {"now", row.now},
                      {"window_max", row.window_max},
                      {"max", row.max},
                      {"entered", row.entered},
                      {"given_up", row.given_up}});
  object["activities"] = made_of(snapshot.activities);
  object["markers"] = made_of(snapshot.markers);
  if (!snapshot.script_error.empty()) object["script_error"] = snapshot.script_error;
  object["worst"] = worst_of(snapshot);
  return object;
}

std::string json_line(const ordered_json& object) {
  return object.dump(-1, ' ', false, ordered_json::error_handler_t::replace) + "\n";
}

}  // namespace sojourn::present
