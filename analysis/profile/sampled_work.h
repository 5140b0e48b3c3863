// Sums over the samples of perf events, collected in one pass over a trace: how much of each
// counter each thread took in each place, and how often it was there with which stack. One thread
// owns a SampledWork.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "analysis/journeys/topology.h"
#include "analysis/model/context_info.h"
#include "analysis/model/event.h"
#include "analysis/model/profile_info.h"
#include "analysis/model/schema.h"
#include "analysis/profile/thread_work.h"

namespace sojourn::profile {

class SampledWork {
 public:
  using SampleFilter = std::function<bool(const model::EventView& sample)>;

  // The arguments must outlive it. Only wanted samples count.
  SampledWork(const model::Schema& schema, const journeys::Topology& topology,
              const model::Profile& profile, SampleFilter wants = {});
  SampledWork(const SampledWork&) = delete;
  SampledWork& operator=(const SampledWork&) = delete;

  bool is_empty() const { return profile_.counters.empty(); }

  void consume(const model::EventBatch& events);  // in time order
  void finish() { threads_.finish(); }

  const std::vector<model::Counter>& counters() const { return profile_.counters; }
  const std::vector<std::uint64_t>& passes() const { return threads_.passes(); }
  const journeys::Topology& topology() const { return topology_; }

  // Sums of the counter with this index in counters().
  const std::map<ThreadLocation, SampleSum>& of_counter(std::size_t counter) const {
    return amounts_[counter];
  }

  struct LocationStack {
    ThreadLocation at;
    std::uint32_t stack = 0;
    auto operator<=>(const LocationStack&) const = default;
  };
  const std::map<LocationStack, SampleSum>& stacks() const { return stacks_; }

 private:
  const journeys::Topology& topology_;
  const model::Profile& profile_;
  SampleFilter wants_;
  struct Source {
    std::size_t counter = 0;
    bool has_stacks = false;
  };
  std::vector<std::optional<Source>> by_point_;
  std::vector<std::map<ThreadLocation, SampleSum>> amounts_;  // by counter
  std::map<LocationStack, SampleSum> stacks_;
  ThreadWork threads_;
};

// The names of threads by number, the newest ones.
std::map<std::uint32_t, std::string> thread_names(const model::Context& context);

}  // namespace sojourn::profile
