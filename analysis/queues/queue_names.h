// The names of places, and of the threads at their ends. No state.
#pragma once

#include <cstdint>
#include <map>
#include <string>

#include "analysis/journeys/topology.h"

namespace sojourn::queues {

using ThreadNames = std::map<std::uint32_t, std::string>;

std::string place_text(const journeys::Topology& topology, std::uint16_t place);  // "D pdcp.in"

// Empty: it has no name.
std::string thread_name(const ThreadNames& threads, std::uint32_t tid);

// The thread with most units: its name, "thread 42", or nothing.
std::string main_thread(const std::map<std::uint32_t, std::uint64_t>& units,
                        const ThreadNames& threads);

}  // namespace sojourn::queues
