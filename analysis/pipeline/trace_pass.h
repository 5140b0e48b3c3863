// One pass over a trace, as every command that reads one makes it. Events are read in time order,
// journeys are rebuilt if there is an observer, and all callbacks run in the caller's thread. The
// executor decides how many threads work; the result is the same.
//
//   pipeline::TracePass pass(threads, input);
//   pass.observe(summary);
//   pass.consume([&](const model::EventBatch& events) { ...; return true; });
//   SJ_TRY(totals, pass.run());
//
// One thread owns a TracePass; its arguments must outlive it.
#pragma once

#include <cstdint>
#include <functional>
#include <utility>
#include <vector>

#include "analysis/base/executor.h"
#include "analysis/base/result.h"
#include "analysis/journeys/journey.h"
#include "analysis/journeys/totals.h"
#include "analysis/pipeline/divisible_observer.h"
#include "analysis/pipeline/rebuild.h"
#include "analysis/pipeline/trace_input.h"

namespace sojourn::pipeline {

class TracePass {
 public:
  using Predicate = std::function<bool(const journeys::Journey&)>;

  TracePass(Executor& executor, TraceInput& input) : executor_(executor), input_(input) {}
  TracePass(const TracePass&) = delete;
  TracePass& operator=(const TracePass&) = delete;

  // Adds an observer. Without one no journeys are rebuilt.
  void observe(journeys::Observer& observer) { observers_.push_back(&observer); }
  // If it is the only observer, it works in several threads.
  void observe(DivisibleObserver& observer) {
    divisible_ = &observer;
    observers_.push_back(&observer);
  }
  // Limits observers to the journeys for which this is true, and to the stays in their hops.
  void keep(Predicate predicate) { keep_ = std::move(predicate); }
  // Sees each batch of events, after the observers' calls that follow from it. False ends the pass.
  void consume(Consume consume) { listeners_.consume = std::move(consume); }
  void show(Progress progress) { listeners_.progress = std::move(progress); }

  Result<journeys::Totals> run();

  // After a pass with keep(): all journeys, and those for which it was true.
  std::uint64_t seen() const { return seen_; }
  std::uint64_t kept() const { return kept_; }

 private:
  Result<journeys::Totals> tell(journeys::Observer& observer);

  Executor& executor_;
  TraceInput& input_;
  std::vector<journeys::Observer*> observers_;
  DivisibleObserver* divisible_ = nullptr;
  Predicate keep_;
  Listeners listeners_;
  std::uint64_t seen_ = 0;
  std::uint64_t kept_ = 0;
};

}  // namespace sojourn::pipeline
