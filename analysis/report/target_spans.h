// Work that the target timed itself: events with a field `dur_ns`, such as those imported from
// srsRAN. The durations are counted by point. One thread owns a TargetSpans.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "analysis/model/event.h"
#include "analysis/model/schema.h"
#include "analysis/statistics/distribution.h"

namespace sojourn::report {

class TargetSpans {
 public:
  // The schema must outlive it.
  explicit TargetSpans(const model::Schema& schema);

  void consume(const model::EventBatch& events);
  bool empty() const;

  struct Span {
    model::PointId point = 0;
    const statistics::Distribution* times_ns = nullptr;
  };
  // Sorted by total time, the longest first.
  std::vector<Span> all() const;

 private:
  bool may_be_some_ = false;
  std::vector<std::optional<std::size_t>> fields_;  // by point
  std::vector<statistics::Distribution> times_ns_;  // by point
};

}  // namespace sojourn::report
