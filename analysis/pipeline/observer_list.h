// Passes what an observer sees on to several. All must outlive it.
#pragma once

#include <algorithm>
#include <iterator>
#include <utility>
#include <vector>

#include "analysis/journeys/journey.h"

namespace sojourn::pipeline {

class ObserverList : public journeys::Observer {
 public:
  explicit ObserverList(std::vector<journeys::Observer*> observers)
      : observers_(std::move(observers)) {
    std::ranges::copy_if(observers_, std::back_inserter(of_places_),
                         &journeys::Observer::wants_places);
  }

  bool wants_steps() const override {
    return std::ranges::any_of(observers_, &journeys::Observer::wants_steps);
  }
  bool wants_steps_of(const journeys::Journey& journey) const override {
    return std::ranges::any_of(observers_, [&](const auto* each) {
      return each->wants_steps() && each->wants_steps_of(journey);
    });
  }
  bool wants_order() const override {
    return std::ranges::any_of(observers_, &journeys::Observer::wants_order);
  }
  bool wants_places() const override {
    return std::ranges::any_of(observers_, &journeys::Observer::wants_places);
  }
  void on_begin(std::uint64_t id) override {
    for (auto* const each : observers_) each->on_begin(id);
  }
  void on_events(const model::EventBatch& events) override {
    for (auto* const each : observers_) each->on_events(events);
  }
  void on_journey(const journeys::Journey& journey) override {
    for (auto* const each : observers_) each->on_journey(journey);
  }
  bool is_selective() const override {
    return std::ranges::any_of(observers_, &journeys::Observer::is_selective);
  }
  bool selects(const model::EventView& event) const override {
    return std::ranges::all_of(observers_, [&](const auto* each) { return each->selects(event); });
  }
  void on_stay(const journeys::Stay& stay) override {
    for (auto* const each : of_places_) each->on_stay(stay);
  }
  void on_enter(std::uint16_t place, std::uint64_t ts_ns) override {
    for (auto* const each : of_places_) each->on_enter(place, ts_ns);
  }
  void on_leave(std::uint16_t place, std::uint64_t entered_ns, std::uint64_t ts_ns,
                bool seen) override {
    for (auto* const each : of_places_) each->on_leave(place, entered_ns, ts_ns, seen);
  }

 private:
  std::vector<journeys::Observer*> observers_;
  std::vector<journeys::Observer*> of_places_;  // who looks at stays and at who enters and leaves
};

}  // namespace sojourn::pipeline
