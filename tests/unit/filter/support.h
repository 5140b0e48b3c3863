// A small base station's schema and events for it.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "analysis/filter/event_filter.h"
#include "analysis/model/event.h"
#include "analysis/model/schema.h"

namespace sojourn::filter_tests {

// Points 0 to 4: ip.in--rlc.tx.am (len rnti), rlc.tx.am--mac (len rnti, sn signed), mac--phy
// (slot), U phy--mac (sn twice), I depth (len).
model::Schema radio();

// Threads 1 (mac), 2 (dl pdcp) and 4 (dl phy) have names.
const filter::ThreadNames& thread_names();

struct Event {
  model::PointId point = 0;
  std::vector<std::uint64_t> values;
  std::uint64_t ts_ns = 0;
  std::uint32_t tid = 0;
  std::uint32_t stream = 0;
};
model::EventBatch batch(const std::vector<Event>& events);

// The rows of the batch that the expression selects, which must compile; every event is asked for
// by itself as well, and has to give the same answer.
std::vector<std::uint32_t> selected(std::string_view expression, const model::EventBatch& events,
                                    filter::Missing missing = filter::Missing::kReject,
                                    const filter::BindContext& around = {});

// The error that compiling for events gives.
std::string error_of(std::string_view expression);

}  // namespace sojourn::filter_tests
