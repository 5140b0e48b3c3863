// One journey as an object for programs: one line of JSON.
#pragma once

#include <cstdint>
#include <string>
#include <unordered_map>
#include <vector>

#include "analysis/journeys/journey.h"
#include "analysis/model/capture_info.h"
#include "analysis/model/schema.h"

namespace sojourn::present {

using CpuOfStream = std::unordered_map<std::uint32_t, std::int32_t>;

std::string journey_json(const journeys::Journey& journey, const model::Schema& schema,
                         const CpuOfStream& cpus, const std::vector<model::MergedHost>& hosts = {});

}  // namespace sojourn::present
