// Places that are as fast as the machine allows, as a table and as JSON.
#pragma once

#include <string>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "analysis/causes/stay_floors.h"
#include "analysis/journeys/topology.h"

namespace sojourn::present {

std::string floors_text(const std::vector<causes::StayFloors::Row>& rows,
                        const journeys::Topology& topology);
nlohmann::ordered_json floors_json(const std::vector<causes::StayFloors::Row>& rows,
                                   const journeys::Topology& topology);

}  // namespace sojourn::present
