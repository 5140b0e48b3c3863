// A point's fields by their names: which of them are ids, and where a key's ids stand among its
// values.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "analysis/journeys/topology.h"
#include "analysis/model/schema.h"

namespace sojourn::journeys {

// Sorted, each once.
std::vector<std::string> ids(const model::Point& point);
// Whether a sorted list has the name.
bool has(const std::vector<std::string>& names, const std::string& name);

std::optional<std::uint8_t> index_of(const model::Point& point, const std::string& name,
                                     bool property);
// Of the ids with these names, those that the point has.
FieldIndexes indexes(const model::Point& point, const std::vector<std::string>& names);
// The same, in every way that fields of one name allow: each is as good as the others.
std::vector<FieldIndexes> alternatives(const model::Point& point,
                                       const std::vector<std::string>& names);

}  // namespace sojourn::journeys
