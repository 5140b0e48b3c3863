// p-values of several tests at once, adjusted so that each can be compared with one level. Plain
// functions without state. What is returned has the order of what is given.
#pragma once

#include <span>
#include <vector>

namespace sojourn::differential {

// Holm (1979): the chance of even one false alarm is at most the level.
std::vector<double> holm(std::span<const double> p_values);

// Benjamini and Hochberg (1995): of the alarms, at most that share is false on average.
std::vector<double> benjamini_hochberg(std::span<const double> p_values);

}  // namespace sojourn::differential
