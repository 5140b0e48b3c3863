// Explains the slowest hundredth of a trace's packets in the same pass that also finds which
// packets those are. While the pass runs, it explains the packets that are slower than most were so
// far; at the end it drops those that are not in the slowest hundredth. The guess can be too high
// if a trace begins slower than it goes on. Then the answer needs a LatenessAnalysis. It must not
// be used with several threads, because the guess changes while journeys are made. One thread owns
// a GuessedLateness.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "analysis/causes/cause_totals.h"
#include "analysis/causes/context_name_table.h"
#include "analysis/causes/explainer.h"
#include "analysis/causes/slowest_verdicts.h"
#include "analysis/pipeline/trace_pass.h"
#include "analysis/report/complete_latencies.h"

namespace sojourn::report {

class GuessedLateness {
 public:
  // `wanted`: the packets that count; empty: all. `worst`: the number of the slowest that are kept.
  // The arguments must outlive the GuessedLateness.
  GuessedLateness(pipeline::TraceInput& input, const causes::Explainer::Wanted& wanted,
                  std::size_t worst);
  GuessedLateness(const GuessedLateness&) = delete;
  GuessedLateness& operator=(const GuessedLateness&) = delete;

  // The pass reports all journeys to it, and consume() gets each batch of events after them.
  void observe(pipeline::TracePass& pass);
  void consume(const model::EventBatch& events);

  // After the pass. False: the guess was too high, and only deadlines() is known.
  bool finish();

  const causes::Deadlines& deadlines() const { return deadlines_; }
  const causes::ContextNameTable& names() const { return names_; }
  const causes::CauseTotals& tally() const { return tally_; }
  const causes::Explainer& found() const { return explainer_; }
  std::vector<causes::Verdict> take_worst() { return std::move(worst_).take(); }

 private:
  void raise_guess();

  CompleteLatencies latencies_;
  causes::ContextNameTable names_;
  causes::Deadlines deadlines_ = {.down_ns = 0, .up_ns = 0};  // the guess, until finish()
  // The packet counts at which it is raised.
  std::array<std::uint64_t, 2> next_;
  std::vector<causes::Verdict> explained_;
  causes::CauseTotals tally_;
  causes::SlowestVerdicts worst_;
  causes::Explainer explainer_;
};

}  // namespace sojourn::report
