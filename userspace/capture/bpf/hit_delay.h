// An artificial delay of each hit of the BPF programs: zero. Tests and benches of expensive hits
// link a program of their own with another definition of this function
// (tests/support/slow_hits.cpp). The program that is installed has no switch for it.
#pragma once

#include <cstdint>

namespace sojourn::capture {

std::uint32_t hit_delay_ns();

}  // namespace sojourn::capture
