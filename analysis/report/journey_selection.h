// Selects journeys of a trace and their order (`sojourn journeys`): as they come, the slowest
// first, or the oldest of those that were inside at the end first. One thread owns a
// JourneySelection.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "analysis/journeys/journey.h"
#include "analysis/pipeline/journey_log.h"
#include "analysis/report/activity_log.h"

namespace sojourn::report {

struct JourneyWishes {
  std::vector<std::uint64_t> ids = {};  // only these; none: all
  std::optional<model::Direction> direction = {};
  std::uint64_t limit = 0;  // 0: all
  std::uint64_t worst = 0;  // the number of slowest ones; 0: all, in their order
  bool incomplete = false;  // only those
  bool inside = false;      // only those that were inside when the capture ended
  std::function<bool(const journeys::Journey&)> keep = {};  // empty: all
};

class JourneySelection : public journeys::Observer {
 public:
  using Take = std::function<void(const journeys::Journey&)>;

  // `take` gets each selected journey, with the activities around it, if `activities` is given.
  JourneySelection(JourneyWishes wishes, Take take, const ActivityLog* activities = nullptr)
      : wishes_(std::move(wishes)), take_(std::move(take)), activities_(activities) {}

  bool wants_places() const override { return false; }
  bool wants_steps_of(const journeys::Journey& journey) const override;
  void on_journey(const journeys::Journey& journey) override;
  // Called after the last journey.
  void finish();

  // Returns true once no more journeys will be selected.
  bool is_full() const {
    return (wishes_.limit != 0 && selected_ >= wishes_.limit) ||
           (!wishes_.ids.empty() && selected_ == wishes_.ids.size());
  }
  std::uint64_t selected() const { return selected_; }
  std::uint64_t last_id() const { return last_id_; }  // of all journeys
  bool has_found(std::uint64_t id) const { return found_.contains(id); }
  // If the slowest were requested: the number of journeys without a latency.
  std::uint64_t at_one_point() const { return at_one_point_; }

 private:
  struct Kept {
    std::uint64_t at_ns = 0;  // by which they are put in order
    std::uint64_t id = 0;
    pipeline::JourneyLog log = {};
    ActivityLog::Found meanwhile = {};
  };

  static bool is_slower(const Kept& left, const Kept& right) {
    return left.at_ns != right.at_ns ? left.at_ns > right.at_ns : left.id < right.id;
  }

  bool is_wanted(const journeys::Journey& journey) const;
  bool is_slow(std::uint64_t latency_ns) const;
  ActivityLog::Found around(const journeys::Journey& journey) const {
    return activities_ == nullptr ? ActivityLog::Found() : activities_->around(journey);
  }
  void pass(journeys::Journey journey, const ActivityLog::Found& meanwhile);
  void keep_slowest(const journeys::Journey& journey);
  void pass_all(std::vector<Kept>& kept);

  JourneyWishes wishes_;
  Take take_;
  const ActivityLog* activities_;
  std::uint64_t selected_ = 0;
  std::uint64_t last_id_ = 0;
  std::uint64_t at_one_point_ = 0;
  std::set<std::uint64_t> found_;
  std::vector<Kept> slowest_;  // a heap, the least slow in front
  // A journey must take longer than this to be kept. It only grows: another thread that reads an
  // older value takes a few journeys too many for wanted, which is harmless.
  std::atomic<std::uint64_t> least_ns_ = 0;
  std::vector<Kept> inside_;
};

}  // namespace sojourn::report
