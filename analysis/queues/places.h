// The places between a target's points as queues: units enter and leave them, whether or not the
// target registered a queue there. An Observer of the rebuild of journeys; all of its figures are
// from events alone. Memory grows with places and threads, not with the trace. One thread owns a
// Places.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <vector>

#include "analysis/journeys/journey.h"
#include "analysis/journeys/topology.h"
#include "analysis/queues/item_selection.h"
#include "analysis/queues/meter.h"

namespace sojourn::queues {

struct PlaceQueue {
  Meter meter;
  std::map<std::uint32_t, std::uint64_t> fed_by;  // thread, units
  std::map<std::uint32_t, std::uint64_t> drained_by;

  // The journeys that were inside at the high-water mark, and were seen to leave.
  static constexpr std::size_t kMaxListed = 8;
  std::uint64_t mark_ns = 0;
  std::uint64_t inside = 0;
  std::vector<std::uint64_t> journeys;  // the first of them to be reported
  std::uint64_t newest = 0;             // of all of them
};

class Places : public journeys::Observer {
 public:
  // Called for each stay; may be empty.
  using TakeStay = std::function<void(std::uint16_t place, const journeys::Stay&)>;

  // The topology outlives it. `open_ns` 0: the open mark is not known.
  Places(const journeys::Topology& topology, std::uint64_t open_ns, TakeStay take,
         ItemSelection selection = {});

  bool is_selective() const override { return selection_.is_selective(); }
  bool selects(const model::EventView& event) const override { return selection_(event); }
  void on_enter(std::uint16_t place, std::uint64_t ts_ns) override;
  void on_leave(std::uint16_t place, std::uint64_t entered_ns, std::uint64_t ts_ns,
                bool seen) override;
  void on_stay(const journeys::Stay& stay) override;
  void on_journey(const journeys::Journey& journey) override;
  void finish(std::uint64_t end_ns);

  bool empty() const { return !begun_; }                             // no wanted unit came
  const std::vector<PlaceQueue>& queues() const { return queues_; }  // by place
  // The places whose units go on into this one.
  std::vector<std::uint16_t> before(std::uint16_t place) const;
  // In the order in which units come through them.
  std::vector<std::uint16_t> order() const;

 private:
  // A stay of a journey. Whether it contains a mark is known once all entering and leaving up to
  // its end was reported.
  struct Stay {
    std::uint64_t journey = 0;
    std::uint64_t entered_ns = 0;
    std::uint64_t left_ns = 0;
    std::uint16_t place = 0;
  };

  void begin(std::uint64_t ts_ns);
  void told(std::uint64_t ts_ns);
  // When each step's unit had left whole; 0: never.
  void find_leavings(const journeys::Journey& journey);
  void note_at_mark(const Stay& stay);
  void settle(std::uint64_t until_ns);

  const journeys::Topology& topology_;
  std::uint64_t open_ns_;
  TakeStay take_;
  ItemSelection selection_;
  bool begun_ = false;
  std::vector<PlaceQueue> queues_;
  std::vector<std::uint64_t> left_ns_;  // by step
  std::uint64_t told_ns_ = 0;           // all enters and leaves until then are known
  std::deque<Stay> stays_;              // in the order in which they were reported, not settled yet
};

}  // namespace sojourn::queues
