// Measures how often functions are called, as briefly and cheaply as possible: a few functions at a
// time have probes that only count, for a moment. Where all together cost the target much, the
// dearest lose their probes within milliseconds. Those without a call in that time are seldom
// called: they may be watched for longer, all at once. Leaves nothing behind, also when this
// process is killed. No state.
#pragma once

#include <chrono>
#include <cstdint>
#include <vector>

#include <sys/types.h>

#include "analysis/base/result.h"
#include "userspace/tracee/program_points.h"

namespace sojourn::capture {

struct HitRate {
  std::uint64_t hits = 0;
  std::uint64_t span_ns = 0;  // in which they were counted
  bool is_too_hot = false;    // alone it costs much of what all together may cost

  double a_second() const {
    return span_ns == 0 ? 0 : static_cast<double>(hits) * 1e9 / static_cast<double>(span_ns);
  }
};

struct RateOptions {
  std::chrono::milliseconds span{100};   // for which each function is counted
  std::chrono::milliseconds timeout{0};  // up to this, while any has fewer hits than:
  std::uint64_t enough = 1;
  std::size_t at_once = 32;
  double max_share = 0.05;  // of one processor, for all hits together
};

// The rates, by point. Needs uprobe_multi links, as other probes take too long to remove.
Result<std::vector<HitRate>> measure_hit_rates(const tracee::Points& points, pid_t pid,
                                               const RateOptions& options = {});

// Watches the points without a hit so far, until each has one or the timeout is over.
Result<void> watch_on(const tracee::Points& points, pid_t pid, std::chrono::milliseconds timeout,
                      std::vector<HitRate>& rates);

// One hit, with its point's values.
struct SeenHit {
  std::uint64_t ts_ns = 0;
  std::uint32_t tid = 0;
  model::PointId point = 0;
  std::vector<std::uint64_t> values;
};

// The hits of all these points in that time, under the same limit, as far as there is room.
Result<std::vector<SeenHit>> watch_hits(const tracee::Points& points, pid_t pid,
                                        const RateOptions& options = {});

}  // namespace sojourn::capture
