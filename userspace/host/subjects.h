// The subjects that are measured, one file each. Each adds its measurements to the bench's profile,
// or says why they were left out; none of them fails.
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

// An empty loop's turn, and a tick of the cycle counter: as measured before, else measured now.
double loop_cost_ns(const Bench& bench);
double counter_tick_ns(const Bench& bench);

// How long a cycle is now: changes of frequency are found by asking again.
double measure_cycle_ns(std::uint64_t cycles);

}  // namespace sojourn::host
