// Finds points that a user should know of while a capture runs: those that are hit so often that
// they take much of the target's CPU, and those that are never hit. Each is found once. Its input
// is totals, now and then. One thread owns a HitWatch.
#pragma once

#include <cstdint>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "analysis/model/schema.h"

namespace sojourn::capture {

struct WatchedPoint {
  std::uint64_t hit_ps = 0;
  bool is_targets = true;      // false: the kernel's, or a sample's
  bool may_be_silent = false;  // as points for errors are
  bool is_hot_news = true;     // false: the budget keeps it from getting too hot
};

class HitWatch {
 public:
  // The shares of the target's CPU, and of one processor, above which a point is reported. A share
  // of a target that does hardly anything says little, so both must be exceeded.
  static constexpr double kHotShare = 0.05;
  static constexpr double kHotOfProcessor = 0.01;
  // A point without a hit for this long is reported as silent.
  static constexpr std::uint64_t kSilentNs = 5'000'000'000;

  explicit HitWatch(std::uint64_t open_ns) : open_ns_(open_ns) {}

  struct Hot {
    model::PointId point = 0;
    double hits_a_second = 0;
    double share = 0;  // of the target's CPU
  };
  struct News {
    std::vector<Hot> hot;                // points that were not reported before, the hottest first
    std::vector<model::PointId> silent;  // once
    bool none_was_hit = false;
  };
  // Takes the totals of hits, by point, and of the target's CPU time. Points that come later are at
  // the end.
  News look(std::uint64_t now_ns, std::span<const WatchedPoint> points,
            std::span<const std::uint64_t> hits, std::uint64_t cpu_ns);

 private:
  std::vector<Hot> find_hot(std::uint64_t now_ns, std::span<const WatchedPoint> points,
                            std::span<const std::uint64_t> hits, std::uint64_t cpu_ns);

  std::uint64_t open_ns_;
  std::uint64_t last_ns_ = 0;
  std::uint64_t last_cpu_ns_ = 0;
  std::vector<std::uint64_t> last_hits_;
  std::set<model::PointId> reported_hot_;
  bool has_reported_silent_ = false;
};

// "a, b and 3 more: no such traffic, ..."; `by_name`: the points are functions that a map names.
std::string silent_points_text(std::span<const std::string> names, bool by_name);

}  // namespace sojourn::capture
