// Journeys that are anchored at their output: one for each event at which a packet leaves (or is
// dropped), made of everything that led there, found by walking back over parents and repeats.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "analysis/journeys/assemble/pieces.h"
#include "analysis/journeys/journey.h"
#include "analysis/journeys/units/unit_store.h"

namespace sojourn::journeys {

class OutputJourneys {
 public:
  OutputJourneys(const Topology& topology, UnitStore& store, Observer& observer,
                 std::uint64_t& next_id)
      : topology_(topology),
        store_(store),
        observer_(observer),
        next_id_(next_id),
        describes_steps_(observer.wants_steps()),
        per_point_(topology.points.size(), 0),
        pieces_(topology) {}

  // Emits the journey that ended in `ends` (several: pieces that were never put together).
  // `outcome` is what it is if its ancestry is whole.
  void emit(std::span<Unit* const> ends, Outcome outcome);
  // The same, unless something before the unit was not seen and it is not known yet why, or what
  // that is may be seen to be wrong soon (kHeadless, kMissing, kUndecided, kSuspected in its
  // ancestry): then it is false.
  bool emit_clean(Unit* end, Outcome outcome);
  // From here on: units that are inside at the capture's end have kAtEnd.
  void set_end(std::uint64_t end_ns) { end_ns_ = end_ns; }

 private:
  void collect(std::span<Unit* const> ends);
  void visit(Unit* unit, std::vector<Unit*>& into) const;
  void visit_all();
  void visit_blocks();
  void emit_collected(Outcome outcome);
  // What a unit has from those before it.
  struct Past {
    std::uint64_t origin_ns = 0;       // the earliest input
    std::uint32_t decisive = kNoStep;  // the parent that it has that from
    bool again = false;
  };
  Past past_of(const Unit& unit) const;
  std::uint32_t count_pieces();
  void describe_critical_path(Journey& out);
  void describe_inside(Journey& out);
  void describe_steps(bool is_plain, Journey& out);
  std::uint32_t step_of(const Unit& unit) const;
  std::uint32_t repeat_of(const Unit& unit) const {
    return unit.repeat_of == nullptr ? kNoStep : step_of(*unit.repeat_of);
  }
  void make_room_for_parents();
  std::span<const std::uint32_t> parents_of(const Unit& unit);

  const Topology& topology_;
  UnitStore& store_;
  Observer& observer_;
  std::uint64_t& next_id_;
  bool describes_steps_;
  std::uint64_t end_ns_ = 0;  // of the capture, once that has come
  std::vector<Unit*> units_;
  std::vector<Unit*> blocks_;  // on the way of units whose origins are known
  std::uint32_t flags_ = 0;
  std::vector<Past> pasts_;  // of the units
  std::vector<CriticalPathSpan> critical_path_;
  std::vector<Inside> inside_;
  std::vector<Step> steps_;
  std::vector<std::uint32_t> parents_;
  std::vector<std::uint32_t> per_point_;
  Pieces pieces_;
};

}  // namespace sojourn::journeys
