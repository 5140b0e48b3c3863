// One journey in words: a block of lines for people.
#pragma once

#include <string>

#include "analysis/journeys/journey.h"
#include "analysis/model/schema.h"

namespace sojourn::present {

// The event that names the journey: the packet that entered (or left) is known by its own ids.
const journeys::Step& namesake(const journeys::Journey& journey);

// Who it is, how it ended and how long it took, in one line without an end.
std::string journey_headline(const journeys::Journey& journey, const model::Schema& schema);

std::string journey_text(const journeys::Journey& journey, const model::Schema& schema);

}  // namespace sojourn::present
