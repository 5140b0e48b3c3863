// Journeys that are anchored at their input. Each begins with a packet that entered, and grows with
// every event that its bytes reach. It ends when it is whole at an output, or dropped, and nothing
// more can happen to it. The JourneyMembers of a unit say which bytes of which journeys it has.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <unordered_map>
#include <vector>

#include "analysis/base/plain_vector.h"
#include "analysis/journeys/assemble/pieces.h"
#include "analysis/journeys/journey.h"
#include "analysis/journeys/units/unit_store.h"

namespace sojourn::journeys {

// A journey that is under way.
struct OpenJourney {
  enum class Wait : std::uint8_t { kSettle, kLinger, kExpiry };
  struct Trail {
    Unit* unit;  // valid for the first step, and for all steps where the observer wants them
    std::uint64_t ts_ns;
    std::uint32_t first_parent;
    std::uint32_t repeat_of;
    PointId point;
    bool again;
    std::uint32_t tid;
  };
  static_assert(sizeof(Trail) == 32);

  std::uint64_t id = 0;
  std::uint64_t start_ns = 0;
  std::uint64_t last_out_ns = 0;
  std::uint64_t ack_ns = 0;
  std::uint64_t since_ns = 0;
  std::uint64_t last_serial = 0;  // of the unit of the latest step
  std::uint32_t serial = 0;
  std::uint32_t whole = 0;  // its length in bytes; 0: it was not cut so far
  std::uint32_t done_step = kNoStep;
  std::uint32_t open = 0;  // leaves that are not repeats
  std::uint32_t live = 0;  // all leaves
  std::uint32_t acks_pending = 0;
  std::uint32_t rounds_pending = 0;
  std::uint32_t drops = 0;
  std::uint32_t dropped_leaves = 0;  // dropped, and not replaced by a repeat
  std::uint32_t drop_step = kNoStep;
  Wait wait = Wait::kExpiry;
  bool by_bytes = true;
  bool headless = false;
  bool ambiguous = false;
  OpenJourney* previous = nullptr;
  OpenJourney* next = nullptr;
  IntervalSet covered;
  PlainVector<Trail> trail;
  PlainVector<std::uint32_t> parents;  // of all steps, in the order of the steps

  bool is_done() const { return done_step != kNoStep; }
  // The kind of event that the journey still waits for.
  Wait awaited() const {
    if (!is_done() && (live != 0 || drops == 0)) [[likely]]
      return Wait::kExpiry;
    if (acks_pending > 0) return Wait::kExpiry;
    return headless || live > 0 || rounds_pending > 0 ? Wait::kLinger : Wait::kSettle;
  }
};

class InputJourneys {
 public:
  struct Closing {
    bool at_end = false;   // of the capture
    bool expired = false;  // by time or memory
  };
  // Returns whether a lost event may have ended a journey that has no end.
  using Excuse =
      std::function<bool(std::uint64_t start_ns, std::uint64_t end_ns, model::Direction direction)>;

  InputJourneys(const Topology& topology, const Rules& rules, UnitStore& store, Observer& observer,
                std::uint64_t& next_id, Excuse lost);

  void begin(Unit* root);
  // The unit joins the journeys of its parents. If it is a segment, `bytes` are its bytes of the
  // parent.
  void inherit(Unit* unit, std::span<Unit* const> parents, const Interval* bytes);
  void reached_output(const Unit& unit);
  void dropped(const Unit& unit);
  void acknowledged(const Unit& parent, std::uint64_t ts_ns);
  // The unit left its place, or was given up.
  void left(const Unit& unit);
  // The journeys of the unit stay open until unpin() with the same flag.
  void pin(Unit& unit, Flag why);
  void unpin(Unit& unit, Flag why) {
    if (unit.is(why)) unpin_members(unit, why);
  }
  // The unit turned out to be ambiguous.
  static void doubt(const Unit& unit);
  // The lengths at a cut turned out not to be comparable, so leaves decide when journeys are whole.
  void distrust_bytes(const Unit& unit);

  void set_now(std::uint64_t now_ns) { now_ns_ = now_ns; }
  // Closes the journeys whose last deadline has passed. No deadline is before next_due_ns().
  void expire();
  std::uint64_t next_due_ns() const;
  bool close_oldest();
  // The unit was in its place when the capture ended.
  void note_inside(const Unit& unit);
  // Called at the end of the capture.
  void finish(std::uint64_t end_ns);

  std::size_t open() const { return progress_.used(); }

 private:
  using Wait = OpenJourney::Wait;
  struct Queue {
    OpenJourney* oldest = nullptr;
    OpenJourney* newest = nullptr;
  };

  void add_step(OpenJourney& journey, Unit* unit);
  void make_room(OpenJourney& journey);
  // The number of first steps whose units the journey keeps in memory.
  std::size_t held(const OpenJourney& journey) const {
    return describes_steps_ ? journey.trail.size() : 1;
  }
  void add_members(Unit* unit, std::span<Unit* const> parents, const Interval* bytes);
  void add_members_of(const Unit& origin, Unit* unit, const Unit& parent, const Interval* bytes);
  void join(Unit* unit, const Unit& parent, const JourneyMember& member, const Interval* bytes,
            JourneyMember& made);
  void join_gathered(Unit* unit, const Unit& parent, const JourneyMember& member,
                     const Interval* bytes);
  void add_all_members(Unit* unit, std::span<Unit* const> parents, const Interval* bytes);
  void cut(const Unit& parent, const JourneyMember& member, const Interval& bytes,
           JourneyMember& made);
  static void add_parent(OpenJourney& journey, std::uint32_t step);
  void link_repeats(const Unit& unit);
  void unpin_members(Unit& unit, Flag why);
  void count_leaf(const Unit& unit);
  static void check_whole(OpenJourney& journey, std::uint32_t step);
  // The journey may be waiting for something else now.
  void reconsider(OpenJourney& journey) {
    const auto wait = journey.awaited();
    // The expiry counts from the input. The other waits begin anew with each change.
    if (wait != Wait::kExpiry || wait != journey.wait) [[unlikely]]
      requeue(journey, wait);
  }
  void requeue(OpenJourney& journey, Wait wait);
  Queue& queue(Wait wait) { return queues_[static_cast<int>(wait)]; }
  const Queue& queue(Wait wait) const { return queues_[static_cast<int>(wait)]; }
  void append(Queue& queue, OpenJourney& journey);
  static void unlink(Queue& queue, const OpenJourney& journey);
  void prefetch_next(const OpenJourney& journey) const;
  void close(OpenJourney* journey, Closing closing);
  void give_back_steps(OpenJourney& journey);
  Outcome outcome_of(const OpenJourney& journey, const Unit& root, Closing closing) const;
  void describe(const OpenJourney& journey, Journey& out);
  bool goes_on(const OpenJourney& journey, const OpenJourney::Trail& step) const;
  bool came_before(const OpenJourney& journey, std::size_t step) const;
  std::uint32_t count_pieces(const OpenJourney& journey);
  void describe_inside(Journey& out) const;
  void describe_critical_path(const OpenJourney& journey, Journey& out);
  void describe_steps(const OpenJourney& journey, bool is_plain, Journey& out);
  std::span<const std::uint32_t> parents_of(const OpenJourney& journey, std::size_t step) const {
    const auto& trail = journey.trail;
    const auto begin = trail[step].first_parent;
    const auto end =
        step + 1 < trail.size() ? trail[step + 1].first_parent : journey.parents.size();
    return {journey.parents.data() + begin, end - begin};
  }
  std::uint64_t timeout_ns(Wait wait) const;

  const Topology& topology_;
  const Rules& rules_;
  UnitStore& store_;
  Observer& observer_;
  std::uint64_t& next_id_;
  Excuse lost_;
  bool describes_steps_;
  std::uint64_t now_ns_ = 0;
  std::uint64_t end_ns_ = 0;  // of the capture, set in finish()
  std::uint32_t next_serial_ = 1;
  Slab<OpenJourney> progress_;
  Queue queues_[3];
  std::vector<JourneyMember> gathered_;
  std::vector<CriticalPathSpan> critical_path_;
  std::vector<Step> steps_;
  std::unordered_map<std::uint64_t, std::vector<Inside>>
      inside_;  // at the end, by id of the journey
  std::vector<std::uint32_t> per_point_;
  Pieces pieces_;
};

}  // namespace sojourn::journeys
