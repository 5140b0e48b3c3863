#include "userspace/cli/exports/pass_export.h"

#include <utility>

#include "analysis/exports/chrome.h"
#include "analysis/exports/perfetto.h"
#include "analysis/exports/trace_names.h"
#include "analysis/pipeline/trace_pass.h"
#include "userspace/base/thread_executor.h"
#include "userspace/cli/progress.h"
#include "userspace/cli/trace_argument.h"

namespace sojourn::cli {
namespace {

// A format that observes journeys and sees all events.
template <typename Format>
Result<void> write_all(const ExportRequest& request, trace::Reader reader,
                       const std::string& notice, const exports::Write& write) {
  SJ_TRY(rules, request.rules.read());
  SJ_TRY(script, request.script.start(reader, ScriptOption::Things::kJourneys));
  SJ_TRY(input, derive_input(std::move(reader), rules));
  SJ_TRY(where, request.where.journeys(input.reader()));
  const exports::TraceNames names(input.reader());
  Format made(input.reader(), input.topology(), names, write);
  ProgressLine line;
  base::ThreadExecutor threads;
  pipeline::TracePass pass(threads, input);
  pass.observe(made);
  if (auto keep = script.predicate(where)) pass.keep(std::move(keep));
  pass.show(line.progress());
  pass.consume([&](const model::EventBatch& events) {
    made.consume(events);
    return made.is_good();
  });
  SJ_CHECK(pass.run());
  SJ_CHECK(script.check());
  SJ_CHECK(made.finish());
  line.clear();
  tell_if_not_whole(input.reader(), notice);
  return script.finish();
}

}  // namespace

Result<void> export_chrome(const ExportRequest& request, trace::Reader reader,
                           const std::string& notice, const exports::Write& write) {
  return write_all<exports::ChromeTrace>(request, std::move(reader), notice, write);
}

Result<void> export_perfetto(const ExportRequest& request, trace::Reader reader,
                             const std::string& notice, const exports::Write& write) {
  return write_all<exports::PerfettoTrace>(request, std::move(reader), notice, write);
}

}  // namespace sojourn::cli
