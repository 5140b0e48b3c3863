// Cuts the time of one packet into parts, each with its cause. Only the critical path counts: from
// the event that made the packet whole back to its parent that came last, and so on. So the parts
// add up to the latency. One thread owns a DelayClassifier.
//
// In a place the unit waits for the thread that will take it out. The state of that thread is the
// cause: it ran (for other units ahead, or for this one), wanted a CPU, slept, or waited for the
// thread before it. In the last case the state of that thread is the cause.
#pragma once

#include <cstdint>
#include <vector>

#include "analysis/causes/context_name_table.h"
#include "analysis/causes/queue_positions.h"
#include "analysis/causes/timeline.h"
#include "analysis/causes/verdict.h"
#include "analysis/journeys/journey.h"
#include "analysis/journeys/known_ids.h"

namespace sojourn::causes {

// The path through a journey that decided its latency, first event first. Owns its data.
struct CriticalPath {
  struct Step {
    std::uint64_t ts_ns = 0;
    std::uint64_t entered_ns = 0;
    std::uint64_t repeats_ns = 0;  // the time of the transmission that it repeats; 0: none
    std::uint32_t tid = 0;
    model::PointId point = 0;
    std::vector<std::uint64_t> values;
  };
  Verdict verdict;  // without the parts
  std::vector<Step> steps;
  std::uint16_t reassembly_place = 0;  // the place where segments wait for each other
};

CriticalPath critical_path_of(const journeys::Journey& journey, const journeys::Topology& topology,
                              const journeys::PacketNames& names);

class DelayClassifier {
 public:
  // All outlive it.
  DelayClassifier(const model::Schema& schema, const journeys::Topology& topology,
                  const Timeline& timeline, const QueuePositions& lines,
                  const ContextNameTable& names);

  // The parts of verdicts have their stretches from now on.
  void keep_stretches() { keeps_stretches_ = true; }
  Verdict classify(const CriticalPath& way);

 private:
  struct Wait {
    std::uint16_t place = 0;
    std::uint64_t begin_ns = 0;
    std::uint64_t end_ns = 0;
    std::uint32_t from = 0;  // the thread that put it there
    std::uint32_t to = 0;    // the thread that took it out
    QueuePositions::Ahead ahead;
    bool is_lower_bound = false;  // others from before the trace's beginning may have been ahead
    std::uint64_t turn_ns = 0;    // from here on no unit was ahead
    std::uint64_t served_ns = 0;  // from then on `to` had nothing else to do
    bool is_paced = false;        // `to` is paced by slots
    std::int64_t slot = -1;       // in which it left
    std::int64_t sampled = -1;
  };

  void pass(const CriticalPath& way, std::size_t step);
  void wait(Wait wait);
  void run(const Wait& wait, std::uint64_t from_ns, std::uint64_t to_ns);
  void interrupts(const Wait& wait, std::uint32_t tid, std::uint64_t from_ns, std::uint64_t to_ns);
  void sleep(const Wait& wait, const context::ThreadSpan& span, std::uint64_t from_ns,
             std::uint64_t to_ns);
  bool has_parted(const Wait& wait, std::uint64_t before_ns) const;
  bool is_parting(const Wait& wait, const context::ThreadSpan& span) const;
  void handover(const Wait& wait, std::uint64_t from_ns, std::uint64_t to_ns);
  void blocked(const Wait& wait, const context::ThreadSpan& span, std::uint64_t from_ns,
               std::uint64_t to_ns);
  void queued(const Wait& wait, std::uint64_t from_ns, std::uint64_t to_ns);
  void wanted_cpu(const Wait& wait, const context::ThreadSpan& span, std::uint64_t from_ns,
                  std::uint64_t to_ns);
  std::int64_t slot_of(const CriticalPath& way, std::size_t step) const;
  LatencyPart part(CauseKind kind, const Wait& wait, std::uint64_t from_ns,
                   std::uint64_t to_ns) const;
  void add(LatencyPart part);
  static bool is_same(const LatencyPart& left, const LatencyPart& right);

  const model::Schema& schema_;
  const journeys::Topology& topology_;
  const Timeline& timeline_;
  const QueuePositions& positions_;
  const ContextNameTable& names_;
  std::vector<LatencyPart> parts_;
  bool keeps_stretches_ = false;
};

}  // namespace sojourn::causes
