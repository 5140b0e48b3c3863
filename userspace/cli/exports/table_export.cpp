#include "userspace/cli/exports/table_export.h"

#include <cstdint>
#include <optional>
#include <type_traits>
#include <utility>
#include <vector>

#include "analysis/exports/parquet_rows.h"
#include "analysis/exports/tables.h"
#include "analysis/exports/text_rows.h"
#include "analysis/exports/trace_names.h"
#include "analysis/pipeline/trace_pass.h"
#include "analysis/report/lateness_analysis.h"
#include "userspace/base/thread_executor.h"
#include "userspace/cli/deadline_search.h"
#include "userspace/cli/progress.h"
#include "userspace/cli/tell.h"
#include "userspace/cli/trace_argument.h"

namespace sojourn::cli {
namespace {

// Writes a table of events: of all, or of the samples of queues.
template <typename EventsTable>
Result<void> write_events(const ExportRequest& request, trace::Reader& reader,
                          exports::RowWriter& rows) {
  SJ_TRY(where, request.where.events(reader));
  const exports::TraceNames names(reader);
  EventsTable made(reader, names, rows);
  SJ_CHECK(made.table().begin());
  ProgressLine line;
  base::ThreadExecutor threads;
  std::vector<std::uint32_t> selected;
  const auto add = [&](const model::EventBatch& events) {
    select(where, events, selected);
    for (const std::uint32_t row : selected) made.add(events[row]);
    return made.table().is_good();
  };
  SJ_CHECK(pipeline::read_events(threads, reader, {.progress = line.progress(), .consume = add}));
  if (std::is_same_v<EventsTable, exports::QueueTable> && !made.table().has_rows() &&
      !request.where.given()) {
    line.clear();
    tell("{}: no queue was sampled: `sojourn record --queues` does\n", reader.path());
  }
  return made.table().finish(reader);
}

// A table that observes journeys.
template <typename JourneysTable>
Result<void> write_journeys(const ExportRequest& request, pipeline::TraceInput& input,
                            const ScriptRun& script, JourneysTable& made) {
  SJ_TRY(where, request.where.journeys(input.reader()));
  SJ_CHECK(made.table().begin());
  ProgressLine line;
  base::ThreadExecutor threads;
  pipeline::TracePass pass(threads, input);
  pass.observe(made);
  if (auto keep = script.predicate(where)) pass.keep(std::move(keep));
  pass.show(line.progress());
  pass.consume([&](const model::EventBatch&) { return made.table().is_good(); });
  SJ_CHECK(pass.run());
  SJ_CHECK(script.check());
  return made.table().finish(input.reader());
}

Result<void> write_causes(const ExportRequest& request, pipeline::TraceInput& input,
                          const ScriptRun& script, const exports::TraceNames& names,
                          exports::RowWriter& rows) {
  SJ_TRY(where, request.where.journeys(input.reader()));
  const causes::Explainer::Wanted wanted = script.predicate(where);
  ProgressLine line;
  base::ThreadExecutor threads;
  SJ_TRY(deadlines, find_deadlines(request.deadline, input, threads, wanted, line));
  const causes::ContextNameTable contexts(input.reader().context());
  exports::CauseTable made(input.reader(), input.topology(), contexts, names, rows);
  SJ_CHECK(made.table().begin());
  report::LatenessAnalysis analysis(input, deadlines, wanted,
                                    [&](const causes::Verdict& verdict) { made.add(verdict); });
  SJ_CHECK(analysis.run(
      threads, is_deadline_searched(request.deadline) ? line.progress(1, 2) : line.progress()));
  SJ_CHECK(script.check());
  return made.table().finish(input.reader());
}

Result<void> write_table(const ExportRequest& request, pipeline::TraceInput& input,
                         const ScriptRun& script, exports::RowWriter& rows) {
  const exports::TraceNames names(input.reader());
  if (request.what == "journeys") {
    exports::JourneyTable made(input.reader(), names, rows);
    return write_journeys(request, input, script, made);
  }
  if (request.what == "hops") {
    exports::HopTable made(input.reader(), input.topology(), names, rows);
    return write_journeys(request, input, script, made);
  }
  if (request.what == "in-flight") {
    exports::InFlightTable made(input.topology(), names, rows);
    return write_journeys(request, input, script, made);
  }
  return write_causes(request, input, script, names, rows);
}

}  // namespace

Result<void> export_table(const ExportRequest& request, trace::Reader reader,
                          const std::string& notice, exports::RowWriter& rows) {
  const bool is_of_events = request.what == "events" || request.what == "queues";
  SJ_TRY(script, request.script.start(reader, is_of_events ? ScriptOption::Things::kEvents
                                                           : ScriptOption::Things::kJourneys));
  if (is_of_events) {
    SJ_CHECK(request.what == "events" ? write_events<exports::EventTable>(request, reader, rows)
                                      : write_events<exports::QueueTable>(request, reader, rows));
    tell_if_not_whole(reader, notice);
    return script.finish();
  }
  SJ_TRY(rules, request.rules.read());
  SJ_TRY(input, derive_input(std::move(reader), rules));
  SJ_CHECK(write_table(request, input, script, rows));
  tell_if_not_whole(input.reader(), notice);
  return script.finish();
}

Result<void> export_csv(const ExportRequest& request, trace::Reader reader,
                        const std::string& notice, const exports::Write& write) {
  exports::CsvRows rows(write);
  return export_table(request, std::move(reader), notice, rows);
}

Result<void> export_parquet(const ExportRequest& request, trace::Reader reader,
                            const std::string& notice, const exports::Write& write) {
  exports::ParquetRows rows(write);
  return export_table(request, std::move(reader), notice, rows);
}

Result<void> export_json_lines(const ExportRequest& request, trace::Reader reader,
                               const std::string& notice, const exports::Write& write) {
  exports::JsonRows rows(write);
  return export_table(request, std::move(reader), notice, rows);
}

}  // namespace sojourn::cli
