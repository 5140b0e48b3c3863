// The life cycle of units. A unit waits in the place that it entered until it leaves. Then it is
// kept for a while, for late repeats or for its acknowledgement, and then it is retired. A unit
// that never leaves is given up. One thread owns it.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "analysis/journeys/assemble/input_journeys.h"
#include "analysis/journeys/assemble/output_journeys.h"
#include "analysis/journeys/assemble/point_history.h"
#include "analysis/journeys/match/evicted_units.h"
#include "analysis/journeys/match/harq_receptions.h"
#include "analysis/journeys/match/losses.h"
#include "analysis/journeys/match/match.h"
#include "analysis/journeys/match/mixed_senders.h"
#include "analysis/journeys/max_span.h"
#include "analysis/journeys/place_change_sorter.h"
#include "analysis/journeys/totals.h"
#include "analysis/journeys/units/age_queue.h"
#include "analysis/journeys/units/unit_store.h"

namespace sojourn::journeys {

class UnitLifecycle {
 public:
  UnitLifecycle(const Topology& topology, const Rules& rules, std::uint64_t open_ns,
                Observer& observer, PlaceChangeSorter& places, UnitStore& store,
                EvictedUnits& evicted, MixedSenders& senders, HarqReceptions& receptions,
                InputJourneys& input_journeys, OutputJourneys& output_journeys,
                const Losses& losses, Totals& totals)
      : topology_(topology),
        rules_(rules),
        open_ns_(open_ns),
        observer_(observer),
        places_(places),
        is_selective_(observer.is_selective()),
        store_(store),
        evicted_units_(evicted),
        mixed_senders_(senders),
        harq_receptions_(receptions),
        input_journeys_(input_journeys),
        output_journeys_(output_journeys),
        losses_(losses),
        totals_(totals),
        longest_stays_(topology.places.size()) {}

  void set_now(std::uint64_t now_ns) { now_ns_ = now_ns; }
  // Returns whether the observer wants the stays of the unit.
  bool reports_stays_of(const Unit& unit) const {
    if (!is_selective_) [[likely]]
      return true;
    return !unit.is(kUncounted);
  }
  // By place, of the units that were seen to leave it.
  const std::vector<MaxSpan>& longest_stays() const { return longest_stays_; }

  // `hashes` are the hashes of its keys.
  void enter(Unit* unit, const PointPlan& plan, std::span<const std::uint64_t> hashes);
  void leave(Unit* unit, std::uint64_t ts_ns);
  // The unit left, and its stay does not count.
  void depart(Unit* unit);
  void acknowledge(Unit* unit);
  // The unit does not wait any more: a repeat of it waits instead.
  void give_way(Unit* unit);
  // Remembers that the unit took one of several parents (Match::rivals), that it took an evicted
  // one back, or that it may be another sender's (Match::unsure).
  void note_rivals(Unit& unit, const Match& match);
  // Removes the unit from tables and queues. It is no parent any more.
  void retire(Unit* unit);

  // Retires and gives up the units that are due. Mostly none are.
  void expire() {
    if (now_ns_ > departed_due_ns_) [[likely]]
      expire_departed();
    if (now_ns_ > waiting_due_ns_) expire_waiting();
  }
  // Frees memory: first units that left, then journeys that keep units, then units that wait.
  void make_room();

  // At the end of the capture, first the units that are in their places get kAtEnd, as far as their
  // leaving would have been seen. Then finish() gives all units up.
  void find_inside(const PointHistory& reach, std::uint64_t end_ns);
  void finish(std::uint64_t end_ns);

 private:
  void now_inside(Unit* unit, const PointPlan& plan);
  bool is_chosen(const Unit& unit, const PointPlan& plan) const;
  void displace(const Unit& unit, const PointPlan& plan);
  void insert(Unit* unit, const PointPlan& plan, const TableUse& use, std::uint64_t hash);
  void replace_rounds(Unit* unit, const PointPlan& plan);
  void forget_stale(const KeyEntry& older, const PointPlan& plan, const TableUse& use);
  void forget(Unit* unit);
  void disprove_one_at_a_time(const TableUse& use);
  void give_up(Unit* unit, std::uint64_t now_ns, bool at_end);
  void no_longer_inside(Unit* unit, const PointPlan& plan, std::uint64_t now_ns);
  bool was_empty(const Unit& unit, const PointPlan& plan, std::uint64_t now_ns, bool at_end);
  void emit_unfinished(Unit* unit, const PointPlan& plan, std::uint64_t now_ns, Outcome outcome);
  void expire_departed();
  void expire_waiting();
  void prefetch_next_due() const;

  const Topology& topology_;
  const Rules& rules_;
  std::uint64_t open_ns_;
  Observer& observer_;
  PlaceChangeSorter& places_;
  bool is_selective_;
  UnitStore& store_;
  EvictedUnits& evicted_units_;
  MixedSenders& mixed_senders_;
  HarqReceptions& harq_receptions_;
  InputJourneys& input_journeys_;
  OutputJourneys& output_journeys_;
  const Losses& losses_;
  Totals& totals_;
  std::uint64_t now_ns_ = 0;
  // No unit of the queue is due before.
  std::uint64_t departed_due_ns_ = 0;
  std::uint64_t waiting_due_ns_ = 0;
  AgeQueue waiting_;
  AgeQueue departed_;
  std::vector<MaxSpan> longest_stays_;  // by place
  std::vector<Unit*> group_;
};

}  // namespace sojourn::journeys
