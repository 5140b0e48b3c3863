#include "analysis/pipeline/trace_pass.h"

#include <algorithm>

#include "analysis/pipeline/filtering_observer.h"
#include "analysis/pipeline/observer_list.h"
#include "analysis/pipeline/partitions.h"

namespace sojourn::pipeline {

Result<journeys::Totals> TracePass::run() {
  if (observers_.empty()) return read_events(executor_, input_.reader(), listeners_);
  const bool is_sole = observers_.size() == 1;
  if (!keep_ && is_sole && divisible_ != nullptr && can_partition(input_.reader())) {
    const auto parts =
        partitions_of(input_.topology(), input_.reader().events(), executor_.processors());
    if (!parts.empty()) return rebuild_divided(executor_, input_, parts, *divisible_, listeners_);
  }
  ObserverList list(observers_);
  journeys::Observer& all = is_sole ? *observers_.front() : static_cast<journeys::Observer&>(list);
  if (!keep_) return tell(all);
  FilteringObserver filter(all, input_.topology(), keep_);
  auto totals = tell(filter);
  seen_ = filter.seen();
  kept_ = filter.kept();
  return totals;
}

// Chooses between one rebuilder, which calls the observer directly, and several, which record their
// calls. A selective observer must see each event in the rebuilder's thread. With one processor a
// single rebuilder is faster, because no calls are recorded. It is used only if the trace's units
// fit in the memory that one direction may have.
Result<journeys::Totals> TracePass::tell(journeys::Observer& observer) {
  std::vector<journeys::Partition> parts;
  if (can_partition(input_.reader())) parts = directions_of(input_.topology());
  if (parts.size() == 1) parts.clear();
  if (observer.is_selective()) return rebuild_here(executor_, input_, observer, listeners_);
  const std::size_t most = input_.rules().max_units / std::max<std::size_t>(parts.size(), 1);
  const bool has_room = input_.reader().events() <= most;
  if (executor_.processors() != 1 || !(has_room || input_.tries_together()))
    return rebuild(executor_, input_, parts, observer, listeners_);
  SJ_TRY(totals, rebuild_here(executor_, input_, observer, listeners_));
  if (has_room || totals.peak_units <= most) return totals;
  input_.try_together(false);
  return fail("more than {} units in memory at once", most);
}

}  // namespace sojourn::pipeline
