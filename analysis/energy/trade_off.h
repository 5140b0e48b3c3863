// Finds the runs that are worth choosing: no other run is better in both energy and latency (the
// Pareto set). Plain data.
#pragma once

#include <optional>
#include <span>
#include <vector>

namespace sojourn::energy {

struct Choice {
  std::optional<double> joules;  // a packet
  std::optional<double> latency_ns;
};

// The Pareto set: for each choice whether no other one is at least as good in both and better in
// one. A choice that lacks a figure is never in it, and puts no other one out of it.
std::vector<bool> pareto_set(std::span<const Choice> choices);

}  // namespace sojourn::energy
