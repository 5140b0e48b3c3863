#include "userspace/cli/list/list_json.h"

#include <algorithm>
#include <string>
#include <string_view>
#include <utility>

namespace sojourn::cli {

namespace {

using nlohmann::ordered_json;

std::string_view probe_name(coarse::Probe probe) {
  switch (probe) {
    case coarse::Probe::kEntry:
      return "entry";
    case coarse::Probe::kExit:
      return "exit";
    case coarse::Probe::kReturn:
      return "uretprobe";
    case coarse::Probe::kCall:
      return "call";
  }
  return "unknown";
}

ordered_json places_json(const Listed& listed, std::size_t point) {
  ordered_json rows = ordered_json::array();
  for (std::size_t index = 0; index < listed.found.mapped.size(); ++index) {
    const coarse::MappedSite& mapped = listed.found.mapped[index];
    const tracee::Site& site = listed.points().sites[mapped.site];
    if (site.point != point) continue;
    rows.push_back(
        {{"function", mapped.function},
         {"offset", mapped.offset},
         {"probe", probe_name(mapped.probe)},
         {"instruction", mapped.instruction},
         {"single_step", site.is_stepped},
         {"hit_ns", listed.hit_ns.empty() ? ordered_json() : ordered_json(listed.hit_ns[index])},
         {"folded", mapped.folded}});
  }
  return rows;
}

ordered_json points_json(const Listed& listed) {
  const tracee::Points& points = listed.points();
  const auto counts = count_sites(points);
  ordered_json rows = ordered_json::array();
  for (std::size_t id = 0; id < counts.size(); ++id) {
    const model::Point& point = points.schema.points[id];
    ordered_json fields = ordered_json::array();
    for (const model::Field& field : point.fields)
      fields.push_back(
          {{"name", field.name}, {"role", model::name(field.role)}, {"bytes", field.bytes}});
    rows.push_back({{"name", point.name()},
                    {"dir", std::string(1, model::letter(point.direction))},
                    {"src", point.src},
                    {"dest", point.dest},
                    {"file", point.file},
                    {"engines", counts[id].engines()},
                    {"fields", std::move(fields)},
                    {"sites", counts[id].sites},
                    {"usdt", counts[id].probes}});
    if (auto places = places_json(listed, id); !places.empty())
      rows.back()["places"] = std::move(places);
  }
  return rows;
}

ordered_json side_json(const capture::QueueSide& side) {
  return {{"stage", side.stage}, {"instance", side.instance}, {"pid", side.pid}};
}

ordered_json queues_json(const capture::Queues& queues) {
  ordered_json rows = ordered_json::array();
  for (const capture::Queue& queue : queues.queues)
    rows.push_back({{"name", queue.name},
                    {"kind", queue.kind},
                    {"producer", side_json(queue.producer)},
                    {"consumer", side_json(queue.consumer)},
                    {"group", queue.group},
                    {"capacity", queue.capacity},
                    {"in", queue.counts.in},
                    {"out", queue.counts.out},
                    {"depth", queue.counts.depth()}});
  return rows;
}

}  // namespace

void add_listed(const Listed& listed, bool with_foreign, ordered_json& document) {
  const tracee::Points& points = listed.points();
  document["points"] = points_json(listed);
  document["queues"] = queues_json(listed.queues);
  ordered_json unusable = ordered_json::array();
  for (const tracee::Unusable& one : points.unusable)
    unusable.push_back({{"where", one.where}, {"why", one.why}});
  document["unusable"] = std::move(unusable);
  if (with_foreign) {
    ordered_json foreign = ordered_json::array();
    for (const auto& [key, sites] : count_foreign(points)) {
      const auto& [file, probe, arguments] = key;
      foreign.push_back(
          {{"usdt", probe}, {"file", file}, {"arguments", arguments}, {"sites", sites}});
    }
    document["foreign"] = std::move(foreign);
  }
}

}  // namespace sojourn::cli
