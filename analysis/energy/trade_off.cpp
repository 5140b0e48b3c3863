#include "analysis/energy/trade_off.h"

#include <algorithm>

namespace sojourn::energy {

namespace {

bool is_whole(const Choice& choice) {
  return choice.joules && choice.latency_ns;
}

bool is_better(const Choice& one, const Choice& than) {
  return *one.joules <= *than.joules && *one.latency_ns <= *than.latency_ns &&
         (*one.joules < *than.joules || *one.latency_ns < *than.latency_ns);
}

}  // namespace

std::vector<bool> pareto_set(std::span<const Choice> choices) {
  std::vector<bool> is_best;
  for (const Choice& each : choices)
    is_best.push_back(is_whole(each) && std::ranges::none_of(choices, [&](const Choice& other) {
                        return is_whole(other) && is_better(other, each);
                      }));
  return is_best;
}

}  // namespace sojourn::energy
