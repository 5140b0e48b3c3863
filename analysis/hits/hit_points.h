// The points that hits become: by a map, else one scalar for each kind of event, with the fields of
// the event. Events of one name with other fields become another point. One thread owns it.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "analysis/base/result.h"
#include "analysis/hits/hit.h"
#include "analysis/hits/point_map.h"
#include "analysis/model/schema.h"

namespace sojourn::hits {

enum class NoPoint : std::uint8_t {
  kLeftOut,     // the map leaves it out
  kLacksField,  // the hit has not the value that the map names
};

class HitPoints {
 public:
  explicit HitPoints(PointMap map) : map_(std::move(map)) {}

  // The hit's point, and its values in the order of the point's fields. An error: there are more
  // kinds of events than a trace holds.
  Result<std::optional<model::PointId>> of(const Hit& hit, std::vector<std::uint64_t>& values,
                                           NoPoint& why);
  const model::Schema& schema() const { return schema_; }

 private:
  struct Known {
    model::PointId point = 0;
    const MappedPoint* mapped = nullptr;  // null: by the hit's own fields
    bool is_left_out = false;
  };

  Result<Known> add(const Hit& hit);
  Result<model::PointId> id_of(const model::Point& point);

  PointMap map_;
  model::Schema schema_;
  std::map<std::string, Known, std::less<>> known_;  // by event, with its fields where unmapped
};

}  // namespace sojourn::hits
