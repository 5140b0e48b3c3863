// Finds the fields of a point by their names: its ids, and the positions of a key's ids among its
// values.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "analysis/journeys/topology.h"
#include "analysis/model/schema.h"

namespace sojourn::journeys {

// The names of the ids of a point, sorted and without duplicates.
std::vector<std::string> ids(const model::Point& point);
// Returns whether the sorted names contain this one.
bool has(const std::vector<std::string>& names, const std::string& name);

std::optional<std::uint8_t> index_of(const model::Point& point, const std::string& name,
                                     bool property);
// The fields of the ids with these names, as far as the point has them.
FieldIndexes indexes(const model::Point& point, const std::vector<std::string>& names);
// All combinations, if a point has several fields of one name. Each combination identifies the
// unit.
std::vector<FieldIndexes> alternatives(const model::Point& point,
                                       const std::vector<std::string>& names);

}  // namespace sojourn::journeys
