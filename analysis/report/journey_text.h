// One journey in words: a block of lines for people, an object for programs (one line of JSON).
#pragma once

#include <cstdint>
#include <string>
#include <unordered_map>

#include "analysis/journeys/journey.h"
#include "analysis/model/schema.h"

namespace sojourn::report {

using CpuOfStream = std::unordered_map<std::uint32_t, std::int32_t>;

// The event that names the journey: the packet that entered (or left) is known by its own ids.
const journeys::Step& namesake(const journeys::Journey& journey);

std::string to_text(const journeys::Journey& journey, const model::Schema& schema);
std::string to_json_line(const journeys::Journey& journey, const model::Schema& schema,
                         const CpuOfStream& cpus);

}  // namespace sojourn::report
