#include "userspace/cli/exports/graph_export.h"

#include <utility>

#include <nlohmann/json.hpp>

#include "analysis/pipeline/trace_marks.h"
#include "analysis/pipeline/trace_pass.h"
#include "analysis/present/differential/flow_text.h"
#include "analysis/present/queues/queues_content.h"
#include "analysis/present/words/graph.h"
#include "analysis/profile/sampled_work.h"
#include "analysis/queues/queue_survey.h"
#include "userspace/base/thread_executor.h"
#include "userspace/cli/progress.h"
#include "userspace/cli/trace_argument.h"
#include "userspace/cli/traces_to_compare.h"

namespace sojourn::cli {
namespace {

Result<present::Graph> flow_of(const ExportRequest& request) {
  SJ_TRY(runs, TracesToCompare().read({request.path}));
  return present::flow_graph({.runs = runs, .rankings = {}});
}

Result<present::Graph> topology_of(const ExportRequest& request, trace::Reader reader,
                                   const std::string& notice) {
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
  tell_if_not_whole(input.reader(), notice);
  if (survey.is_empty())
    return fail("{}: has no queues, and no packet went through any point", request.path);
  return present::queues_graph({.reader = input.reader(),
                                .survey = survey,
                                .pressure = {},
                                .origin_ns = pipeline::origin_ns(input.reader()),
                                .where = {}});
}

Result<present::Graph> graph_of(const ExportRequest& request, trace::Reader reader,
                                const std::string& notice) {
  if (request.what == "flow") return flow_of(request);
  return topology_of(request, std::move(reader), notice);
}

}  // namespace

Result<void> export_dot(const ExportRequest& request, trace::Reader reader,
                        const std::string& notice, const exports::Write& write) {
  SJ_TRY(graph, graph_of(request, std::move(reader), notice));
  return write(present::dot_text(graph));
}

Result<void> export_svg(const ExportRequest& request, trace::Reader reader,
                        const std::string& notice, const exports::Write& write) {
  SJ_TRY(graph, graph_of(request, std::move(reader), notice));
  return write(present::svg_text(graph));
}

}  // namespace sojourn::cli
