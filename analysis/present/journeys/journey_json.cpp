#include "analysis/present/journeys/journey_json.h"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include <nlohmann/json.hpp>

#include "analysis/journeys/known_ids.h"
#include "analysis/present/journeys/journey_text.h"
#include "analysis/present/words/field_text.h"

namespace sojourn::present {
namespace {

using journeys::Ambiguity;
using journeys::Journey;
using journeys::kNoStep;
using journeys::Outcome;
using nlohmann::ordered_json;

ordered_json ambiguity_json(const Ambiguity& ambiguity, const model::Schema& schema) {
  auto because = ordered_json::array();
  for (const auto& doubt : journeys::kAmbiguityReasons)
    if ((ambiguity.doubts & doubt.doubt) != 0) because.push_back(doubt.name);
  auto others = ordered_json::array();
  for (const auto& other : ambiguity.alternatives) {
    const auto& point = schema.points[other.point];
    others.push_back({{"point", point.name()},
                      {"t_ns", other.ts_ns},
                      {"tid", other.tid},
                      {"stream", other.stream},
                      {"seq", other.seq},
                      {"ids", values_json(point, other.values, false)}});
  }
  return {{"because", because}, {"alternatives", others}, {"more", ambiguity.more_fit}};
}

// Activities and markers of a script: members of the object where a script makes any.
void add_meanwhile(const Journey& journey, const model::Schema& schema, ordered_json& object) {
  if (std::ranges::find(schema.points, model::Direction::kScript, &model::Point::direction) ==
      schema.points.end())
    return;
  auto& activities = object["activities"] = ordered_json::array();
  auto& markers = object["markers"] = ordered_json::array();
  for (const journeys::Meanwhile& made : journey.meanwhile) {
    const model::Point& point = schema.points[made.point];
    const bool is_activity = point.field(model::kDurationField).has_value();
    ordered_json one = {{"name", point.name()}};
    if (is_activity) one["begin_ns"] = made.begin_ns;
    one[is_activity ? "end_ns" : "t_ns"] = made.end_ns;
    one["tid"] = made.tid;
    one["event"] = made.step;
    one["fields"] = values_json(point, made.values, true);
    (is_activity ? activities : markers).push_back(std::move(one));
  }
  if (journey.lacks_meanwhile) object["lacks_activities"] = true;
}

}  // namespace

std::string journey_json(const Journey& journey, const model::Schema& schema,
                         const CpuOfStream& cpus, const std::vector<model::MergedHost>& hosts) {
  ordered_json object;
  object["id"] = journey.id;
  object["dir"] = std::string(1, letter(journey.direction));
  const auto& named = namesake(journey);
  object["ids"] = values_json(schema.points[named.point], named.values, false);
  if (const auto ids = journeys::PacketNames(schema).of(journey);
      are_from_elsewhere(named.point, ids))
    object["known_ids"] = ids_json(schema, ids);
  object["start_ns"] = journey.start_ns;
  object["end_ns"] = journey.end_ns;
  object["last_out_ns"] = journey.last_out_ns;
  object["ack_ns"] = journey.ack_ns;
  object["latency_ns"] = journey.latency_ns();
  if (const auto error = step_error(journey, journey.end_step, hosts))
    object["latency_error_ns"] = error->ns;
  if (journey.outcome == Outcome::kComplete) object["at_one_point"] = !journey.has_latency();
  object["outcome"] = name(journey.outcome);
  object["complete"] = journey.outcome == Outcome::kComplete;
  object["censored"] = journey.outcome == Outcome::kCensored;
  const bool inside = journey.inside_until_ns != 0;
  if (inside) object["inside_ns"] = journey.inside_until_ns - journey.start_ns;
  object["ambiguous"] = journey.ambiguous;
  object["alternatives"] = journey.alternatives;
  object["headless"] = journey.headless;
  object["segments"] = journey.segments;
  object["retransmissions"] = journey.retransmissions;
  object["harq_retransmissions"] = journey.harq_retransmissions;
  object["drops"] = journey.drops;
  object["end_event"] = journey.end_step;
  auto& events = object["events"] = ordered_json::array();
  auto ambiguity = journey.ambiguities.begin();
  for (const auto& step : journey.steps) {
    const auto& point = schema.points[step.point];
    const auto cpu = cpus.find(step.stream);
    ordered_json event = {{"point", point.name()},
                          {"src", point.src},
                          {"dest", point.dest},
                          {"t_ns", step.ts_ns},
                          {"tid", step.tid},
                          {"cpu", cpu == cpus.end() ? -1 : cpu->second},
                          {"stream", step.stream},
                          {"seq", step.seq},
                          {"ids", values_json(point, step.values, false)},
                          {"properties", values_json(point, step.values, true)},
                          {"parents", std::vector(step.parents.begin(), step.parents.end())}};
    if (const auto error = step_error(journey, events.size(), hosts)) {
      event["host"] = error->host;
      event["error_ns"] = error->ns;
    }
    if (step.repeat_of != kNoStep) event["repeat_of"] = step.repeat_of;
    if (inside && step.inside) event["inside_ns"] = journey.inside_until_ns - step.entered_ns;
    if (ambiguity != journey.ambiguities.end() && ambiguity->step == events.size())
      event["doubt"] = ambiguity_json(*ambiguity++, schema);
    events.push_back(std::move(event));
  }
  add_meanwhile(journey, schema, object);
  return object.dump(-1, ' ', false, ordered_json::error_handler_t::replace);
}

}  // namespace sojourn::present
