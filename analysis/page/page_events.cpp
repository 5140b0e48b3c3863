#include "analysis/page/page_events.h"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "analysis/model/links.h"
#include "analysis/pipeline/trace_marks.h"
#include "analysis/profile/sampled_work.h"
#include "analysis/trace/reader.h"

namespace sojourn::page {

using nlohmann::ordered_json;

Result<ordered_json> first_events(pipeline::TraceInput& input, filter::EventFilter* where,
                                  std::uint64_t limit, const pipeline::Progress& progress) {
  trace::Reader& reader = input.reader();
  const std::uint64_t origin_ns = pipeline::origin_ns(reader);
  const std::uint64_t most = std::min<std::uint64_t>(limit, kMostEvents);
  const auto threads = profile::thread_names(reader.context());
  const auto& points = reader.schema().points;
  auto shown = ordered_json::array();
  bool more = false;
  std::uint64_t done = 0;
  std::vector<std::uint32_t> rows;
  SJ_CHECK(reader.merge([&](const model::EventBatch& batch) {
    rows.clear();
    if (where != nullptr)
      where->select(batch, rows);
    else
      for (std::uint32_t row = 0; row < batch.size(); ++row) rows.push_back(row);
    for (const std::uint32_t row : rows) {
      if (shown.size() == most) {
        more = true;
        return false;
      }
      const model::EventView event = batch[row];
      const model::Point& point = points[event.point];
      const auto thread = threads.find(event.tid);
      auto values = ordered_json::object();
      for (std::size_t i = 0; i < point.fields.size(); ++i)
        if (!model::is_auxiliary_field(point.fields[i].name))
          values[point.fields[i].name] = event.values[i];
      shown.push_back({{"time_ns", static_cast<std::int64_t>(event.ts_ns - origin_ns)},
                       {"dir", std::string(1, letter(point.direction))},
                       {"point", point.name()},
                       {"tid", event.tid},
                       {"thread", thread != threads.end() ? thread->second
                                                          : fmt::format("thread {}", event.tid)},
                       {"values", std::move(values)}});
    }
    done += batch.size();
    progress(done, reader.events());
    return true;
  }));
  return ordered_json{{"events", std::move(shown)}, {"more", more}};
}

}  // namespace sojourn::page
