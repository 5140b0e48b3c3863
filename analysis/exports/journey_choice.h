// Chooses the journeys for an export that cannot take all: the slowest complete ones of each
// direction, and a sample of all. A journey is in the sample by its number alone, so the same trace
// gives the same sample, and each journey is as likely as any other. An Observer of a pass of its
// own; its memory is that of the chosen numbers. One thread owns a JourneyChoice.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <queue>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "analysis/journeys/journey.h"

namespace sojourn::exports {

class JourneyChoice : public journeys::Observer {
 public:
  JourneyChoice(std::size_t worst, std::size_t sample) : worst_(worst), sample_(sample) {}

  bool wants_steps() const override { return false; }
  bool wants_places() const override { return false; }
  void on_journey(const journeys::Journey& journey) override;

  // Behind the last journey: the choice is made, and does not change any more.
  void finish();
  // "worst" or "sample"; a journey that is both is "worst". Empty: it was not chosen.
  std::string_view why(std::uint64_t journey) const;
  std::size_t chosen() const { return chosen_.size(); }
  std::uint64_t seen() const { return seen_; }

 private:
  using Ranked = std::pair<std::uint64_t, std::uint64_t>;  // the key of its rank, and its number
  using Slowest = std::priority_queue<Ranked, std::vector<Ranked>, std::greater<>>;
  using Lowest = std::priority_queue<Ranked>;

  std::size_t worst_;
  std::size_t sample_;
  std::array<Slowest, 2> slowest_;  // by direction, the fastest of them on top
  Lowest sampled_;                  // the highest of them on top
  std::unordered_map<std::uint64_t, std::string_view> chosen_;
  std::uint64_t seen_ = 0;
};

}  // namespace sojourn::exports
