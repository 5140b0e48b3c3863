// An event's ids in words, its values in JSON, the same wherever they are shown. No state.
#pragma once

#include <cstdint>
#include <span>
#include <string>

#include <nlohmann/json_fwd.hpp>

#include "analysis/model/known_id.h"
#include "analysis/model/schema.h"

namespace sojourn::present {

// " rnti 0x4601 drb 2", without the fields that people do not name.
std::string ids_text(const model::Point& point, std::span<const std::uint64_t> values);

// The ids of a packet, from any event of its path.
std::string ids_text(const model::Schema& schema, std::span<const model::KnownId> ids);
// {name: value}
nlohmann::ordered_json ids_json(const model::Schema& schema, std::span<const model::KnownId> ids);
// Returns whether some ids come from another event than the one that names the packet.
bool are_from_elsewhere(model::PointId own, std::span<const model::KnownId> ids);

// {name: value}, of the point's properties or of its ids. A name that occurs several times has an
// array; a value that could not be read is null.
nlohmann::ordered_json values_json(const model::Point& point, std::span<const std::uint64_t> values,
                                   bool properties);

}  // namespace sojourn::present
