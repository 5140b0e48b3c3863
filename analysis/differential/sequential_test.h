// Tests whether the runs of two sides differ. The test may be looked at after each run, as often as
// one likes, and ended at any time. Its result is evidence (an e-value): if nothing differs, the
// chance that it ever reaches 1 / level is at most the level (Ville's inequality).
//
// It bets on ranks. If nothing differs, all orders of the runs by their value are equally likely.
// Under Lehmann's alternatives, one side has the distribution of the other one to some power, which
// gives another probability for each order. The ratio of the two probabilities is a martingale
// (Savage and Sethuraman 1966), and so is a mixture of several. Plain functions without state.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

namespace sojourn::differential {

// A run, in the order in which they were recorded.
struct Turn {
  double value = 0;
  bool is_new = false;
};

// The evidence of the runs so far. Equal values are ordered in the way that gives least evidence.
double evidence(std::span<const Turn> turns);

// The strongest evidence that this number of runs of each side can give.
double most_evidence(std::size_t base, std::size_t now);

// The evidence of each of several tests that share one level: the least mean of it and any set of
// the others (closed testing with means of e-values, for any dependence between the tests).
std::vector<double> adjusted_evidence(std::span<const double> all);

// The number of runs of each side that can show a difference in this number of tests.
std::size_t turns_needed(std::size_t tests, double level);

}  // namespace sojourn::differential
