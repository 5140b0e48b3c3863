// One journey in words: a block of lines for people.
#pragma once

#include <string>

#include "analysis/journeys/journey.h"
#include "analysis/model/schema.h"

namespace sojourn::present {

// The event that names the journey: the packet that entered (or left) is known by its own ids.
const journeys::Step& namesake(const journeys::Journey& journey);

// The journey's owner, its outcome and its latency, in one line without a line end.
std::string journey_headline(const journeys::Journey& journey, const model::Schema& schema);

std::string journey_text(const journeys::Journey& journey, const model::Schema& schema);

}  // namespace sojourn::present
