// The groups of measurements, one source file each. A group adds its rows to the bench's profile,
// or the reason why they were left out. A group never fails.
#pragma once

#include <cstdint>

#include "userspace/host/bench.h"

namespace sojourn::host {

void measure_clocks(Bench& bench);
void measure_calls(Bench& bench);
void measure_processes(Bench& bench);
void measure_switches(Bench& bench);
void measure_memory(Bench& bench);
void measure_faults(Bench& bench);
void measure_network(Bench& bench);
void measure_files(Bench& bench);
void measure_probes(Bench& bench);
void measure_cores(Bench& bench);

// The time of an empty loop's turn and of a tick of the cycle counter. A value that was not
// measured yet is measured now.
double loop_cost_ns(const Bench& bench);
double counter_tick_ns(const Bench& bench);

// The length of a cycle now. A second call finds a change of frequency.
double measure_cycle_ns(std::uint64_t cycles);

}  // namespace sojourn::host
