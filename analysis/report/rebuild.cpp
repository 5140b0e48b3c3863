#include "analysis/report/rebuild.h"

namespace sojourn::report {

Result<journeys::Totals> rebuild(trace::Reader& reader, const journeys::Rules& rules,
                                 journeys::Observer& observer, const Progress& progress,
                                 const std::function<bool()>& go_on) {
  const journeys::Marks marks = {reader.capture().open_ns, reader.capture().close_ns};
  SJ_TRY(rebuilder, journeys::Rebuilder::create(reader.schema(), rules, marks, observer));
  const auto whole = reader.events();
  std::uint64_t done = 0;
  bool stopped = false;
  SJ_CHECK(reader.merge([&](const model::EventBatch& events) {
    rebuilder.consume(events);
    done += events.size();
    progress(done, whole);
    stopped = !go_on();
    return !stopped;
  }));
  if (!stopped) rebuilder.finish();
  return rebuilder.totals();
}

}  // namespace sojourn::report
