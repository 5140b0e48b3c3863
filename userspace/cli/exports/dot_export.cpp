#include "userspace/cli/exports/dot_export.h"

#include <utility>

#include <nlohmann/json.hpp>

#include "analysis/pipeline/trace_marks.h"
#include "analysis/pipeline/trace_pass.h"
#include "analysis/present/differential/flow_text.h"
#include "analysis/present/queues/queues_content.h"
#include "analysis/profile/sampled_work.h"
#include "analysis/queues/queue_survey.h"
#include "userspace/base/thread_executor.h"
#include "userspace/cli/progress.h"
#include "userspace/cli/trace_argument.h"
#include "userspace/cli/traces_to_compare.h"

namespace sojourn::cli {
namespace {

Result<void> write_flow(const ExportRequest& request, const exports::Write& write) {
  SJ_TRY(runs, TracesToCompare().read({request.path}));
  return write(present::flow_dot({.runs = runs, .rankings = {}}));
}

Result<void> write_topology(const ExportRequest& request, trace::Reader reader,
                            const std::string& told, const exports::Write& write) {
  SJ_TRY(rules, request.rules.read());
  SJ_TRY(input, derive_input(std::move(reader), rules));
  queues::QueueSurvey survey(input.reader(), input.topology(), {},
                             profile::thread_names(input.reader().context()), false, {});
  ProgressLine line;
  base::ThreadExecutor threads;
  pipeline::TracePass pass(threads, input);
  for (journeys::Observer* const observer : survey.observers()) pass.observe(*observer);
  pass.show(line.progress());
  pass.consume([&](const model::EventBatch& events) {
    survey.consume(events);
    return true;
  });
  SJ_TRY(totals, pass.run());
  survey.finish(totals.last_ns);
  line.clear();
  tell_if_not_whole(input.reader(), told);
  if (survey.is_empty())
    return fail("{}: has no queues, and no packet went through any point", request.path);
  return write(present::queues_dot({.reader = input.reader(),
                                    .survey = survey,
                                    .pressure = {},
                                    .origin_ns = pipeline::origin_ns(input.reader()),
                                    .where = {}}));
}

}  // namespace

Result<void> export_dot(const ExportRequest& request, trace::Reader reader, const std::string& told,
                        const exports::Write& write) {
  if (request.what == "flow") return write_flow(request, write);
  return write_topology(request, std::move(reader), told, write);
}

}  // namespace sojourn::cli
