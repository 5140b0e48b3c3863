// Ties events to each other: makes a unit of each, finds its parents, and lets journeys and lives
// go on. A rebuilder has one Engine, or several that share the units among them by their ids
// (Topology::is_divisible). One thread owns it.
#pragma once

#include <algorithm>
#include <cstdint>
#include <deque>
#include <vector>

#include "analysis/journeys/backward.h"
#include "analysis/journeys/beginnings.h"
#include "analysis/journeys/doubts.h"
#include "analysis/journeys/evicted.h"
#include "analysis/journeys/forward.h"
#include "analysis/journeys/journey.h"
#include "analysis/journeys/late_events.h"
#include "analysis/journeys/lives.h"
#include "analysis/journeys/loop_inputs.h"
#include "analysis/journeys/losses.h"
#include "analysis/journeys/marks.h"
#include "analysis/journeys/match.h"
#include "analysis/journeys/matcher.h"
#include "analysis/journeys/reach.h"
#include "analysis/journeys/receptions.h"
#include "analysis/journeys/rules.h"
#include "analysis/journeys/senders.h"
#include "analysis/journeys/store.h"
#include "analysis/journeys/topology.h"
#include "analysis/journeys/totals.h"
#include "analysis/model/event.h"

namespace sojourn::journeys {

class Engine {
 public:
  // What all engines of a rebuilder look at, or add to. It outlives them.
  struct Surroundings {
    const Topology& topology;
    const Rules& rules;
    const Marks& marks;
    const Losses& losses;
    std::uint64_t& journeys;  // that have an id
    Totals& totals;
    Observer& observer;
  };

  explicit Engine(const Surroundings& around);
  Engine(const Engine&) = delete;
  Engine& operator=(const Engine&) = delete;
  ~Engine() = default;

  void process(const model::EventView& event) {
    expire(event.ts_ns);
    const bool others_wait = !late_.empty();
    if (others_wait) late_.end_before(event, [this](const auto& late) { take(late, Turn::kLast); });
    if ((others_wait && late_.has_parent_of(event)) || !take(event, Turn::kFirst))
      late_.add(event);
    else if (others_wait)
      late_.try_again(event.point, [this](const auto& late) { return take(late, Turn::kAgain); });
    const auto in_memory = store_.in_memory();
    if (in_memory > peak_units_) peak_units_ = in_memory;
    if (in_memory > rules_.max_units) {
      ++totals_.crowded;
      lives_.make_room();
    }
  }
  // Another engine's: only what its thread did last is of interest. A round is taken for the repeat
  // that it nearly always is, which a thread does not go on from; were it none, the most that
  // differs is that a journey is called ambiguous.
  void pass(const model::EventView& event, const PointPlan& plan) {
    ++serial_;
    const bool repeats = plan.repeats && !plan.round_is_id && event.values[*plan.round] != 0;
    if (!repeats) matcher_.pass(event.tid, serial_);
  }
  // Gives up what nothing comes of any more. Most events find that nothing is due: each kind
  // remembers before when nothing can be.
  void expire(std::uint64_t now_ns) {
    while (!late_.empty() && late_.oldest_ns() + rules_.late_ns < now_ns) {
      // It goes without a parent when its time is over, not when somebody looks.
      set_now(std::max(now_ns_, late_.oldest_ns() + rules_.late_ns));
      end_oldest_late();
    }
    set_now(now_ns);
  }
  // Events were lost: whose numbers are whose is not sure any more.
  void doubt_numbers() { matcher_.numbering().doubt(); }
  // Closes what is still open.
  void finish(const Reach& reach, std::uint64_t end_ns);

 private:
  enum class Turn : std::uint8_t { kFirst, kAgain, kLast };
  struct Due {
    Unit* unit = nullptr;
    std::uint64_t due_ns = 0;
  };

  std::uint16_t group_of(std::uint32_t stream) const {
    return stream < marks_.groups.size() ? marks_.groups[stream] : std::uint16_t{0};
  }
  void set_now(std::uint64_t now_ns) {
    now_ns_ = now_ns;
    forward_.set_now(now_ns);
    lives_.set_now(now_ns);
    if (now_ns >= endings_due_ns_) expire_endings();
    lives_.expire();
  }
  bool take(const model::EventView& event, Turn turn);
  bool lacks_parent(const Unit& unit, const PointPlan& plan) const;
  void put_behind_parents(Unit& unit) const;
  void connect(Unit& unit, const PointPlan& plan, PointTotals& counts);
  void find_origin(Unit& unit, const PointPlan& plan);
  bool lacks_rounds(const Unit& unit, const PointPlan& plan) const;
  void link_rounds(Unit& unit, const PointPlan& plan, PointTotals& counts);
  void connect_repeat(Unit& unit, const PointPlan& plan, PointTotals& counts);
  void follow(Unit& unit, const PointPlan& plan);
  void leave_parents(const Unit& unit, const PointPlan& plan);
  void tell_of_stay(const Unit& parent, const Unit& child, const PointPlan& plan);
  void end_backward(Unit* unit, bool drop);
  void emit_deferred();
  void end_oldest_late();
  void expire_endings();

  const Topology& topology_;
  const Rules& rules_;
  const Marks& marks_;
  Observer& observer_;
  const Losses& losses_;
  Totals& totals_;
  std::uint64_t now_ns_ = 0;
  std::uint64_t endings_due_ns_ = 0;
  std::uint64_t serial_ = 0;
  std::uint64_t peak_units_ = 0;
  LateEvents late_;
  LoopInputs loops_;
  Store store_;
  Evicted evicted_;
  Senders senders_;
  Receptions receptions_;
  Matcher matcher_;
  Forward forward_;
  Backward backward_;
  Beginnings beginnings_;
  Lives lives_;
  Doubts doubts_;
  Match match_;
  std::deque<Due> deferred_;
  std::vector<std::uint64_t> hashes_;  // of the keys that the event's unit will be found by
};

}  // namespace sojourn::journeys
