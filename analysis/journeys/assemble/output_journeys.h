// Journeys that are anchored at their output. There is one for each event by which a packet leaves
// or is dropped. It has all units that led there, which are found by walking back over parents and
// repeats.
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

  // Emits the journey that ended in `ends`. Several ends are segments that were never reassembled.
  // `outcome` applies if nothing of the journey is missing.
  void emit(std::span<Unit* const> ends, Outcome outcome);
  // Like emit(), but returns false and emits nothing if a unit of the journey is not judged finally
  // yet: if it has the flag kHeadless, kMissing, kUndecided or kSuspected.
  bool emit_clean(Unit* end, Outcome outcome);
  // The capture ended. From here on units that are inside have the flag kAtEnd.
  void set_end(std::uint64_t end_ns) { end_ns_ = end_ns; }

 private:
  void collect(std::span<Unit* const> ends);
  void visit(Unit* unit, std::vector<Unit*>& into) const;
  void visit_all();
  void visit_blocks();
  void emit_collected(Outcome outcome);
  // A summary of all units before a unit.
  struct Past {
    std::uint64_t origin_ns = 0;       // the earliest input
    std::uint32_t decisive = kNoStep;  // the parent that leads to this input
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
  std::uint64_t end_ns_ = 0;  // of the capture, see set_end()
  std::vector<Unit*> units_;
  std::vector<Unit*> blocks_;  // the blocks with units whose origins are known
  std::uint32_t flags_ = 0;    // of any unit
  std::vector<Past> pasts_;    // by unit
  std::vector<CriticalPathSpan> critical_path_;
  std::vector<Inside> inside_;
  std::vector<Step> steps_;
  std::vector<std::uint32_t> parents_;
  std::vector<std::uint32_t> per_point_;
  Pieces pieces_;
};

}  // namespace sojourn::journeys
