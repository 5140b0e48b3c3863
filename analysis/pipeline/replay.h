// Repeats for an observer the calls of several rebuilders, each of which saw its own part of a
// trace. The order, and the numbers of journeys, are those of a single rebuilder. One thread owns a
// Replay.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <span>
#include <vector>

#include "analysis/journeys/journey.h"
#include "analysis/journeys/place_change_sorter.h"
#include "analysis/pipeline/call_log.h"

namespace sojourn::pipeline {

class Replay {
 public:
  enum class Order : std::uint8_t {
    kSingle,      // one rebuilder made all calls
    kOfTurns,     // several rebuilders; they also report when events wait for their parents
    kOfPosition,  // several rebuilders, any of which may have an event that waits at any time
  };

  // The observer must outlive it. `late_ns`: as in the rules.
  Replay(journeys::Observer& observer, std::uint64_t late_ns, std::size_t rebuilders, Order order);

  // Replays the logs so far, one of each rebuilder; all rebuilders have seen the same events.
  void replay(std::span<CallLog* const> of_each);
  // Replays the rest, after the last log.
  void end();

 private:
  // The numbers of one rebuilder's journeys that were not reported yet.
  struct Numbers {
    std::uint64_t first = 1;  // its own number of the first one
    std::deque<std::uint64_t> given;
  };

  void tell(CallLog& log, const Call& call, Numbers& numbers);
  void tell_journey(const journeys::Journey& journey, Numbers& numbers);
  void change(const Call& call);

  journeys::Observer& observer_;
  journeys::PlaceChangeSorter places_;
  Order order_;
  std::vector<Numbers> numbers_;  // by rebuilder
  std::uint64_t last_number_ = 0;
};

}  // namespace sojourn::pipeline
