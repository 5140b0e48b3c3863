// Copies of journeys that outlive the observer's call, one behind the other in a few arrays.
// Clearing keeps the memory, so a log that is used again allocates little. One thread owns a
// JourneyLog.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "analysis/journeys/journey.h"

namespace sojourn::pipeline {

class JourneyLog {
 public:
  void add(const journeys::Journey& journey);
  std::size_t size() const { return journeys_.size(); }
  // Valid until the log is changed or moved.
  const journeys::Journey& operator[](std::size_t index);
  void clear();

 private:
  // The position of a span in its array.
  struct Range {
    std::size_t begin = 0;
    std::size_t size = 0;
  };
  struct Entry {
    journeys::Journey journey;
    Range inside;
    Range critical_path;
    Range steps;
    Range ambiguities;
  };
  struct StepRanges {
    Range values;
    Range parents;
  };

  template <typename Value>
  static Range append(std::vector<Value>& into, std::span<const Value> values) {
    const Range range = {into.size(), values.size()};
    into.insert(into.end(), values.begin(), values.end());
    return range;
  }
  template <typename Value>
  static std::span<const Value> in(const std::vector<Value>& values, Range range) {
    return std::span(values).subspan(range.begin, range.size);
  }

  std::vector<Entry> journeys_;
  std::vector<journeys::Inside> inside_;
  std::vector<journeys::CriticalPathSpan> critical_path_;
  std::vector<journeys::Step> steps_;
  std::vector<StepRanges> step_ranges_;  // of each step
  std::vector<std::uint32_t> parents_;
  std::vector<journeys::Ambiguity> ambiguities_;
  std::vector<Range> ambiguity_ranges_;  // of each ambiguity, in alternatives_
  std::vector<journeys::Alternative> alternatives_;
  std::vector<Range> alternative_ranges_;  // of each alternative, in values_
  std::vector<std::uint64_t> values_;
};

}  // namespace sojourn::pipeline
