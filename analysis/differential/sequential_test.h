// Whether the runs of two sides differ, by a test that may be looked at after each run, as often as
// one likes, and ends whenever one likes. What it gives is evidence (an e-value): where nothing
// differs, the chance that it ever reaches 1 / level is at most the level (Ville's inequality).
//
// It bets on ranks. Where nothing differs, all orders of the runs by their value are equally
// likely. Lehmann's alternatives say how likely each would be, had one side the distribution of the
// other one to some power: the ratio of the two chances is a martingale (Savage and Sethuraman
// 1966), and so is a mixture of several. Plain functions without state.
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

// The most that so many runs of each side can give, whatever they hold.
double most_evidence(std::size_t base, std::size_t now);

// Evidence of each of several tests that share one level: the mean of it and of any others is at
// least that (closed testing with means of e-values, whatever the tests have to do with each
// other).
std::vector<double> adjusted_evidence(std::span<const double> all);

// So many runs of each side can show something in so many tests.
std::size_t turns_needed(std::size_t tests, double level);

}  // namespace sojourn::differential
