// The filter language's meaning in the plainest way: a walk over the parsed tree for each event,
// names looked up each time, three truth values. Slow. It shares nothing but the parser with the
// program that it is compared with.
#pragma once

#include <cstdint>

#include "analysis/filter/syntax.h"
#include "analysis/model/event.h"
#include "analysis/model/schema.h"

namespace sojourn::filter_tests {

enum class Truth : std::uint8_t { kFalse, kUnknown, kTrue };

Truth naive(const filter::Node& node, const model::Schema& schema, const model::EventView& event);

}  // namespace sojourn::filter_tests
