// Decides how an event relates to the units before it: as the next step of one or several, a
// segment of one, another branch, a repeat, or the end. It changes only two things in these units:
// the covered bytes of a parent that is cut, and the flags kPassedOver and kContested.
#pragma once

#include <cstdint>
#include <vector>

#include "analysis/journeys/match/bearer_filter.h"
#include "analysis/journeys/match/evicted_units.h"
#include "analysis/journeys/match/harq_receptions.h"
#include "analysis/journeys/match/match.h"
#include "analysis/journeys/match/mixed_senders.h"
#include "analysis/journeys/match/reassembly.h"
#include "analysis/journeys/match/sequence_numbering.h"
#include "analysis/journeys/units/unit_store.h"

namespace sojourn::journeys {

class Matcher {
 public:
  Matcher(const Topology& topology, UnitStore& store, EvictedUnits& evicted, MixedSenders& senders,
          HarqReceptions& receptions);

  // `finally`: no earlier event can come any more, so a missing parent stays missing.
  void match(const Unit& child, Match& into, bool finally);
  // The thread did an event that has no unit here.
  void pass(std::uint32_t tid, std::uint64_t serial) { last_[tid % kThreads] = {tid, serial}; }
  // By pair, whether its offsets and lengths do not fit together.
  const std::vector<bool>& lengths_differ() const { return lengths_differ_; }
  SequenceNumbering& numbering() { return numbering_; }

 private:
  struct Best {
    const KeyEntry* open = nullptr;
    Unit* used = nullptr;
  };

  void match_pairs(const Unit& child, const PointPlan& plan, const Best& found, Match& into,
                   bool finally);
  Best best(const PointPlan& plan, const Unit& child) const;
  // The parent waited longer than the expiry of the pair.
  bool is_too_old(const Unit& parent, const Unit& child) const;
  // The first of a chain of entries, newest first, that is not too old.
  const KeyEntry* in_time(const KeyEntry* entry, const Unit& child) const {
    if (!topology_.has_expiries) [[likely]]
      return entry;
    return first_in_time(entry, child);
  }
  const KeyEntry* first_in_time(const KeyEntry* entry, const Unit& child) const;
  bool is_named(const Best& found, const Unit& child, const PointPlan& plan) const;
  bool is_new_block(const Unit& parent, const Unit& child, const PointPlan& plan) const;
  Unit* round_before(const Unit& child, const PointPlan& plan) const;
  bool may_be_doubtful(const Match& match) const {
    if (match.unsure) return true;
    return store_.ambiguities().has_contested();
  }
  bool is_of_last(const Unit& child, const Best& found) const;
  static void note_orphan(const Unit& child, const PointPlan& plan, Match& into);
  bool match_round(const Unit& child, const PointPlan& plan, Match& into);
  void note_round_before(const Unit& child, Match& into) const;
  bool match_process(const Unit& child, const PointPlan& plan, Match& into) const;
  bool match_reception(const Unit& child, const PointPlan& plan, const Unit* named,
                       Match& into) const;
  bool match_numbered(const Unit& child, const PointPlan& plan, Match& into, bool finally);
  bool match_cut(const Unit& child, Unit* parent, std::uint32_t pair, Match& into);
  // `newest` is the newest unit that waits.
  void take_all(const Unit& child, const PointPlan& plan, const KeyEntry& newest,
                Match& into) const;
  bool goes_on_with(const Unit& unit, const Unit& child) const;
  void take_nearest(const Unit& child, const KeyEntry& nearest, Match& into) const;
  bool believes_thread(const KeyEntry& nearest, const Unit& child, Match& into) const;
  const KeyEntry* first_as_long(const KeyEntry* entry, const Unit& child) const;
  void note_alternatives(const KeyEntry& nearest, const KeyEntry& taken, const Unit& child,
                         Match& into) const;
  bool is_shared(const TableUse& use) const;
  void note_senders(const KeyEntry& taken, Match& into) const;
  bool take_evicted(const Unit& child, const PointPlan& plan, Match& into) const;
  static void note_rivals(const EvictedUnits::Key& rivals, Match& into);
  bool went_whole(const Unit& parent, const Unit& child, const Pair& pair) const;
  void match_used(const Unit& child, Unit* parent, const Pair& pair, Match& into) const;
  bool same_ids(const Unit& left, const Unit& right) const;

  const Topology& topology_;
  UnitStore& store_;
  EvictedUnits& evicted_units_;
  MixedSenders& mixed_senders_;
  HarqReceptions& harq_receptions_;
  static constexpr std::size_t kThreads = 1 << 16;

  std::vector<bool> lengths_differ_;
  Reassembly reassembly_;
  BearerFilter bearer_filter_;
  SequenceNumbering numbering_;
  struct LastOfThread {
    std::uint32_t tid = 0;
    std::uint64_t serial = 0;
  };
  std::vector<LastOfThread> last_;
};

}  // namespace sojourn::journeys
