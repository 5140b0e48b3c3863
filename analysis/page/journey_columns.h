// The journeys of a trace as columns, a row each: what pictures of all packets are drawn from. One
// thread owns a JourneyColumns.
#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <limits>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "analysis/journeys/journey.h"

namespace sojourn::page {

class JourneyColumns : public journeys::Observer {
 public:
  using GroupOf = std::function<std::string(const journeys::Journey&)>;

  // Times count from `origin_ns`: a double holds 2^53 ns, and a wall clock has more. Without
  // `group_of` there are no groups.
  JourneyColumns(std::uint64_t origin_ns, GroupOf group_of)
      : origin_ns_(origin_ns), group_of_(std::move(group_of)) {}

  bool wants_steps() const override { return static_cast<bool>(group_of_); }
  bool wants_order() const override { return false; }
  bool wants_places() const override { return false; }

  void on_journey(const journeys::Journey& journey) override {
    id.push_back(static_cast<double>(journey.id));
    start.push_back(static_cast<double>(static_cast<std::int64_t>(journey.start_ns - origin_ns_)));
    latency.push_back(journey.has_latency() ? static_cast<double>(journey.latency_ns())
                                            : std::numeric_limits<double>::quiet_NaN());
    direction.push_back(static_cast<std::uint8_t>(journey.direction));
    outcome.push_back(static_cast<std::uint8_t>(journey.outcome));
    segments.push_back(small(journey.segments));
    repeats.push_back(small(journey.retransmissions));
    const bool has_group = group_of_ && journey.outcome == journeys::Outcome::kComplete;
    if (group_of_) group.push_back(has_group ? group_number(group_of_(journey)) : -1);
  }

  std::vector<double> id;
  std::vector<double> start;
  std::vector<double> latency;  // ns; not a number: it has none
  std::vector<std::uint8_t> direction;
  std::vector<std::uint8_t> outcome;
  std::vector<std::uint8_t> segments;  // 255: so many or more
  std::vector<std::uint8_t> repeats;
  std::vector<double> group;        // an index into the groups; -1: not complete, so in none
  std::vector<std::string> groups;  // by name

 private:
  static std::uint8_t small(std::uint32_t number) {
    return static_cast<std::uint8_t>(std::min<std::uint32_t>(number, UINT8_MAX));
  }
  double group_number(std::string name) {
    const auto [known, is_new] = numbers_.try_emplace(name, groups.size());
    if (is_new) groups.push_back(std::move(name));
    return static_cast<double>(known->second);
  }

  std::uint64_t origin_ns_;
  GroupOf group_of_;
  std::unordered_map<std::string, std::size_t> numbers_;
};

}  // namespace sojourn::page
