// Remembers the latest activities and markers of a script, to find those that happened around a
// packet on its threads. Memory is bounded: the oldest are forgotten first. One thread owns an
// ActivityLog.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <unordered_map>
#include <vector>

#include "analysis/journeys/journey.h"
#include "analysis/model/event.h"
#include "analysis/model/schema.h"

namespace sojourn::report {

class ActivityLog : public journeys::Observer {
 public:
  static constexpr std::size_t kMostOfJourney = 1000;

  explicit ActivityLog(const model::Schema& schema, std::size_t most = std::size_t{1} << 18U);

  // Returns true if no script makes any.
  bool is_empty() const { return durations_.empty(); }

  bool wants_steps() const override { return false; }
  bool wants_order() const override { return false; }
  bool wants_places() const override { return false; }
  void on_events(const model::EventBatch& events) override;

  struct Found {
    std::vector<journeys::Meanwhile> made;
    bool lacks_some = false;  // some were forgotten, or there are too many

    void put_into(journeys::Journey& journey) const {
      journey.meanwhile = made;
      journey.lacks_meanwhile = lacks_some;
    }
  };
  // The journey must have its steps. Called while it is being reported.
  Found around(const journeys::Journey& journey) const;

 private:
  static constexpr std::size_t kNoDuration = SIZE_MAX;

  std::size_t first_ = 0;               // point of a script; they are the last ones of a schema
  std::vector<std::size_t> durations_;  // by point, from the first on: the field
  std::size_t most_;
  std::unordered_map<std::uint32_t, std::deque<journeys::Meanwhile>> by_thread_;
  std::deque<std::uint32_t> order_;  // the threads of all, the oldest first
  std::uint64_t forgotten_ns_ = 0;   // everything up to here was forgotten
};

// Adds the activities around each journey to it, before it passes the journey to an observer.
class JourneysWithActivities : public journeys::Observer {
 public:
  JourneysWithActivities(const model::Schema& schema, journeys::Observer& observer)
      : log_(schema), observer_(observer) {}

  bool wants_places() const override { return false; }
  void on_events(const model::EventBatch& events) override { log_.on_events(events); }
  void on_journey(const journeys::Journey& journey) override;

 private:
  ActivityLog log_;
  journeys::Observer& observer_;
};

}  // namespace sojourn::report
