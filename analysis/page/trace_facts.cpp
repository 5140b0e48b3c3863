#include "analysis/page/trace_facts.h"

#include <algorithm>
#include <cstdint>
#include <set>
#include <string>
#include <utility>

#include <nlohmann/json.hpp>

#include "analysis/model/links.h"
#include "analysis/model/redacted_mark.h"
#include "analysis/page/trace_identity.h"
#include "analysis/pipeline/trace_marks.h"
#include "analysis/profile/sampled_work.h"

namespace sojourn::page {

using nlohmann::ordered_json;

ordered_json about_of(const trace::Reader& reader) {
  const std::uint64_t begin_ns = pipeline::origin_ns(reader);
  std::uint64_t end_ns = std::max(begin_ns, reader.capture().close_ns);
  if (end_ns == begin_ns)
    for (const trace::BlockInfo& block : reader.blocks())
      end_ns = std::max(end_ns, block.max_ts_ns);
  // The kernel's events have streams of their own. Reports count them apart, so they are left out.
  std::set<std::uint32_t> others;
  for (const model::Stream& stream : reader.streams())
    if (!model::carries_points(stream.engine)) others.insert(stream.id);
  std::uint64_t events = 0;
  for (const trace::BlockInfo& block : reader.blocks())
    if (!others.contains(block.stream)) events += block.events;
  return {{"target", {{"pid", reader.target().pid}, {"name", reader.target().name}}},
          {"events", events},
          {"duration_s", static_cast<double>(end_ns - begin_ns) / 1e9},
          {"open_ns", reader.capture().open_ns},
          {"origin_ns", begin_ns},
          {"identity", identity_of(reader)},
          {"redacted", model::is_redacted(reader.capture())},
          {"script", reader.capture().script}};
}

ordered_json machine_of(const trace::Reader& reader) {
  const model::Host& host = reader.host();
  return {{"name", host.name},           {"kernel", host.kernel}, {"machine", host.machine},
          {"cpu_model", host.cpu_model}, {"cpus", host.cpus},     {"measured", host.measured}};
}

ordered_json names_of(const trace::Reader& reader) {
  auto points = ordered_json::array();
  for (const model::Point& point : reader.schema().points) {
    if (point.direction > model::Direction::kScalar) continue;
    auto ids = ordered_json::array();
    for (const model::Field& field : point.fields)
      if (field.role != model::Role::kProperty && !model::is_reserved(field.name))
        ids.push_back(field.name);
    points.push_back({{"dir", std::string(1, letter(point.direction))},
                      {"name", point.name()},
                      {"src", point.src},
                      {"dest", point.dest},
                      {"ids", std::move(ids)}});
  }
  auto threads = ordered_json::array();
  for (const auto& [tid, name] : profile::thread_names(reader.context()))
    threads.push_back({{"tid", tid}, {"name", name}});
  std::set<std::int32_t> cpus;
  for (const model::Stream& stream : reader.streams())
    if (stream.cpu >= 0) cpus.insert(stream.cpu);
  return {{"points", std::move(points)}, {"threads", std::move(threads)}, {"cpus", cpus}};
}

}  // namespace sojourn::page
