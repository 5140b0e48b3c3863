// Journeys that are anchored at their input: each begins with a packet that entered and grows with
// every event that its bytes reach, until it is whole at an output, or dropped, and nothing more
// can happen to it. Units carry Members, which say whose bytes they hold and which.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "analysis/journeys/journey.h"
#include "analysis/journeys/store.h"

namespace sojourn::journeys {

class Forward {
 public:
  struct Closing {
    bool at_end = false;   // of the capture
    bool expired = false;  // by time or memory
  };
  // Decides, for a journey that did not end by itself, whether something unseen may have ended it.
  using Excuse = std::function<bool(std::uint64_t start_ns, std::uint64_t end_ns)>;

  Forward(const Topology& topology, const Rules& rules, Store& store, Observer& observer,
          std::uint64_t& next_id, Excuse lost);

  void begin(UnitId root);
  // The unit joins its parents' journeys, with `bytes` of the parent where it is a piece of one.
  void inherit(UnitId id, std::span<const UnitId> parents, const Interval* bytes);
  void reached_output(UnitId id);
  void dropped(UnitId id);
  void acknowledged(UnitId parent, std::uint64_t ts_ns);
  // The unit left its place, or will never be seen to.
  void left(UnitId id);
  void pin(UnitId id, Flag why);
  void unpin(UnitId id, Flag why) {
    if (store_[id].is(why)) unpin_members(id, why);
  }
  // Lengths over a cut turned out not to be comparable: its journeys are judged by their leaves.
  void distrust_bytes(UnitId id);

  void set_now(std::uint64_t now_ns) { now_ns_ = now_ns; }
  // Closes what nothing is expected of any more, which is nothing before next_due_ns().
  void expire();
  std::uint64_t next_due_ns() const;
  bool close_oldest();
  // At the end of the capture; units that are inside then have kAtEnd.
  void finish(std::uint64_t end_ns);

  std::size_t open() const { return progress_.used(); }

 private:
  struct Trail {
    UnitId unit = kNone;
    std::uint32_t first_parent = 0;
    std::uint32_t repeat_of = kNoStep;
    bool again = false;
  };
  enum class Wait : std::uint8_t { kSettle, kLinger, kExpiry };

  struct Progress {
    std::uint64_t id = 0;
    std::uint64_t start_ns = 0;
    std::uint64_t last_ns = 0;
    std::uint64_t done_ns = 0;
    std::uint64_t last_out_ns = 0;
    std::uint64_t ack_ns = 0;
    std::uint64_t since_ns = 0;
    std::uint64_t last_serial = 0;  // of the unit that last got a step here
    std::uint32_t serial = 0;
    std::uint32_t whole = 0;  // bytes; 0: not cut so far
    std::uint32_t done_step = kNoStep;
    std::uint32_t open = 0;  // leaves that are no repeats
    std::uint32_t live = 0;  // all leaves
    std::uint32_t acks_pending = 0;
    std::uint32_t rounds_pending = 0;
    std::uint32_t outputs = 0;
    std::uint32_t drops = 0;
    std::uint32_t dropped_leaves = 0;  // not made good by a repeat
    std::uint32_t alternatives = 0;
    std::uint32_t drop_step = kNoStep;
    std::uint32_t previous = kNone;
    std::uint32_t next = kNone;
    Wait wait = Wait::kExpiry;
    bool by_bytes = true;
    bool headless = false;
    bool ambiguous = false;
    IntervalSet covered;
    std::vector<Trail> trail;
    std::vector<std::uint32_t> parents;  // of all steps, in their order
  };
  struct Queue {
    std::uint32_t oldest = kNone;
    std::uint32_t newest = kNone;
  };

  Progress* open_journey(const Member& member);
  std::uint32_t add_step(std::uint32_t journey, UnitId id);
  void add_members(UnitId id, std::span<const UnitId> parents, const Interval* bytes);
  Member derive(const Member& member, const Unit& parent, const Interval* bytes, Progress& journey);
  void link_repeats(UnitId id);
  void unpin_members(UnitId id, Flag why);
  void count_leaf(UnitId id);
  void check_whole(Progress& journey, std::uint32_t step, std::uint64_t ts_ns);
  bool is_done(const Progress& journey) const { return journey.done_step != kNoStep; }
  void reconsider(std::uint32_t index);
  Wait awaited(const Progress& journey) const;
  void append(Queue& queue, std::uint32_t index);
  void unlink(Queue& queue, std::uint32_t index);
  void fetch_next(std::uint32_t index) const;
  void close(std::uint32_t index, Closing closing);
  Outcome outcome_of(const Progress& journey, const Unit& root, Closing closing) const;
  void describe(const Progress& journey, Journey& out);
  std::uint64_t patience(Wait wait) const;

  const Topology& topology_;
  const Rules& rules_;
  Store& store_;
  Observer& observer_;
  std::uint64_t& next_id_;
  Excuse lost_;
  std::uint64_t now_ns_ = 0;
  std::uint64_t end_ns_ = 0;  // of the capture, once that has come
  std::uint32_t next_serial_ = 1;
  Slab<Progress> progress_;
  Queue queues_[3];
  std::vector<Member> gathered_;
  std::vector<Step> steps_;
  std::vector<std::uint32_t> per_point_;
};

}  // namespace sojourn::journeys
