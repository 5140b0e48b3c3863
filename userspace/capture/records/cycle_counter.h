// The counter that SJ_POINT stamps with, of the CPU that asks. Tests link a program with another
// definition, as on a machine whose CPUs' counters disagree (tests/support/uneven_counters.cpp).
#pragma once

#include <cstdint>

namespace sojourn::capture {

std::uint64_t read_cycle_counter();

}  // namespace sojourn::capture
