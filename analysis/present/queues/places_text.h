// The tables of `sojourn queues` about places between points, and about queues of which there are
// only events.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "analysis/queues/operations.h"
#include "analysis/queues/places.h"
#include "analysis/queues/pressure_net.h"
#include "analysis/queues/queue_names.h"

namespace sojourn::present {

std::string places_text(const queues::Places& places, const journeys::Topology& topology,
                        const queues::ThreadNames& threads, std::uint64_t origin_ns,
                        std::size_t width);
std::string place_depths_text(const queues::Places& places, const journeys::Topology& topology,
                              std::size_t width);
std::string place_threads_text(const queues::Places& places, const journeys::Topology& topology,
                               const queues::ThreadNames& threads, std::size_t width);
std::string operations_text(const queues::Operations& operations, std::uint64_t origin_ns,
                            std::size_t width);
std::string operation_depths_text(const queues::Operations& operations, std::size_t width);
std::string operation_threads_text(const queues::Operations& operations,
                                   const queues::ThreadNames& threads, std::size_t width);
std::string chains_text(const std::vector<queues::Chain>& chains,
                        const std::vector<queues::PressureName>& names, std::uint64_t origin_ns,
                        std::size_t width);

}  // namespace sojourn::present
