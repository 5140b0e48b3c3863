#include "userspace/cli/lateness_of_traces.h"

#include <utility>

#include "analysis/present/causes/cause_labels.h"
#include "analysis/report/lateness_analysis.h"
#include "userspace/base/thread_executor.h"
#include "userspace/cli/progress.h"

namespace sojourn::cli {

Result<std::vector<differential::RunCauses>> lateness_of_traces(
    const std::vector<std::string>& paths, const RulesOption& rules, const WhereOption& where,
    const causes::Deadlines& late) {
  std::vector<differential::RunCauses> runs;
  for (const std::string& path : paths) {
    SJ_TRY(input, open_input(path, rules));
    SJ_TRY(filter, where.journeys(input.reader()));
    causes::Explainer::Wanted wanted;
    if (filter) wanted = [&](const journeys::Journey& journey) { return (*filter)(journey); };
    report::LatenessAnalysis inquiry(input, late, std::move(wanted), [](const causes::Verdict&) {});
    base::ThreadExecutor threads;
    ProgressLine line;
    SJ_CHECK(inquiry.run(threads, line.progress()));
    line.clear();
    differential::RunCauses& run = runs.emplace_back();
    run.complete = inquiry.found().complete();
    run.late = inquiry.found().late();
    for (const causes::CauseTotals::Row& row : inquiry.tally().rows()) {
      differential::CauseOfRun& cause = run.causes[present::label(row.cause, input.topology())];
      cause.packets += row.packets;
      cause.ns += row.ns;
    }
  }
  return runs;
}

}  // namespace sojourn::cli
