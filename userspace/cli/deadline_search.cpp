#include "userspace/cli/deadline_search.h"

#include "analysis/pipeline/trace_pass.h"
#include "analysis/report/complete_latencies.h"
#include "analysis/report/slot_length.h"

namespace sojourn::cli {

Result<causes::Deadlines> find_deadlines(const DeadlineOption& deadline,
                                         pipeline::TraceInput& input, Executor& executor,
                                         const causes::Explainer::Wanted& wanted,
                                         ProgressLine& line) {
  report::SlotLength slots(input.reader().schema());
  report::CompleteLatencies latencies(wanted);
  pipeline::TracePass pass(executor, input);
  pass.show(line.progress(0, 2));
  if (!deadline.given()) pass.observe(latencies);
  pass.consume([&](const model::EventBatch& events) {
    if (deadline.asks_events()) slots.consume(events);
    return true;
  });
  if (is_deadline_searched(deadline)) SJ_CHECK(pass.run());
  if (!deadline.given()) return latencies.deadlines();
  line.clear();
  SJ_TRY(deadline_ns, deadline.in_time(slots, input.reader()));
  return causes::Deadlines{.down_ns = deadline_ns, .up_ns = deadline_ns};
}

}  // namespace sojourn::cli
