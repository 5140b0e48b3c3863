// Adjusts the p-values of several tests, so that each can be compared with one level. Plain
// functions without state. Results have the order of the arguments.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace sojourn::differential {

// Holm (1979): the chance of even one false alarm is at most the level.
std::vector<double> holm(std::span<const double> p_values);

// Benjamini and Hochberg (1995): of the alarms, at most that share is false on average.
std::vector<double> benjamini_hochberg(std::span<const double> p_values);

enum class Adjustment : std::uint8_t { kHolm, kBenjaminiHochberg };
std::vector<double> adjusted(std::span<const double> p_values, Adjustment by);

}  // namespace sojourn::differential
