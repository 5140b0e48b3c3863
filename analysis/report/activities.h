// The result of a script on a trace's events: the durations of its activities, and the counts of
// its markers. One thread owns an Activities.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "analysis/model/event.h"
#include "analysis/model/schema.h"
#include "analysis/statistics/distribution.h"

namespace sojourn::report {

class Activities {
 public:
  explicit Activities(const model::Schema& schema);

  void consume(const model::EventBatch& events);

  struct Activity {
    model::PointId point = 0;
    statistics::Distribution times_ns = {};
  };
  struct Marker {
    model::PointId point = 0;
    std::uint64_t count = 0;
  };
  // In the order in which the script names them, including those that never occurred.
  const std::vector<Activity>& activities() const { return activities_; }
  const std::vector<Marker>& markers() const { return markers_; }
  bool is_empty() const { return activities_.empty() && markers_.empty(); }

 private:
  struct Kind {
    std::size_t at = 0;                   // among activities or among markers
    std::optional<std::size_t> duration;  // the field; none: a marker
  };

  std::size_t first_ = 0;    // point of a script; they are the last ones of a schema
  std::vector<Kind> kinds_;  // by point, from the first on
  std::vector<Activity> activities_;
  std::vector<Marker> markers_;
};

}  // namespace sojourn::report
