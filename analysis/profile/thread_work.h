// Finds in which place on the packets' path each thread was at work, at any time. A thread is at
// work in `b` from an event of its own that enters b to its next event, if that one leaves b: then
// it works on the unit in b. Otherwise it has handed the unit over and does something else, such as
// waiting for the next one: it is between units. Only events of packets (D and U) count; scalars
// and slots are recorded in the middle of work.
//
// So a thread's work is only known at its next event. Memory grows with threads and the items that
// are held for them, not with the trace. One thread owns a ThreadWork.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <unordered_map>
#include <vector>

#include "analysis/journeys/topology.h"
#include "analysis/model/event.h"

namespace sojourn::profile {

constexpr std::uint16_t kBetweenUnits = 65'535;  // no place, but between units

// Number and sum of samples.
struct SampleSum {
  std::uint64_t samples = 0;
  std::uint64_t weight = 0;

  void add(const SampleSum& more) {
    samples += more.samples;
    weight += more.weight;
  }
};

// The location of a thread: a place, or between two of its events of different units.
struct ThreadLocation {
  std::uint16_t place = kBetweenUnits;
  std::uint32_t tid = 0;
  model::PointId after = model::kNoPoint;   // between units: the event before, if there was one,
  model::PointId before = model::kNoPoint;  // and the next one

  auto operator<=>(const ThreadLocation&) const = default;
};

class ThreadWork {
 public:
  // A thread's work under the key that hold() was given.
  using Take =
      std::function<void(const ThreadLocation& at, std::uint64_t key, const SampleSum& amount)>;

  // The topology outlives it.
  ThreadWork(const journeys::Topology& topology, Take take);

  // To be called in time order: the target's events, and items that happened to a thread in
  // between.
  void on_event(const model::EventView& event);
  void hold(std::uint32_t tid, std::uint64_t key, std::uint64_t weight);

  // Releases held items of threads without further events: they are between units.
  void finish();

  // The number of times that a thread went through the place, by place.
  const std::vector<std::uint64_t>& passes() const { return passes_; }

 private:
  struct Thread {
    std::optional<model::PointId> last;  // event of a packet
    std::unordered_map<std::uint64_t, SampleSum> held;
  };
  std::uint16_t place_between(model::PointId before, model::PointId after) const;
  void give(Thread& thread, const ThreadLocation& at);

  const journeys::Topology& topology_;
  Take take_;
  std::unordered_map<std::uint32_t, Thread> threads_;
  std::vector<std::uint64_t> passes_;
};

}  // namespace sojourn::profile
