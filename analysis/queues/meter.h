// One queue over time, from the instants at which items enter and leave it: depths, waits, rates,
// and whether they fit together. The counterpart of Gauge, which has samples only. Where
// it is not known what was inside before the first event, depths are "at least". One thread owns a
// Meter.
#pragma once

#include <cstdint>
#include <optional>

#include "analysis/queues/depth_histogram.h"
#include "analysis/queues/depth_series.h"
#include "analysis/queues/gauge.h"
#include "analysis/queues/given_up.h"
#include "analysis/queues/moments.h"
#include "analysis/statistics/distribution.h"

namespace sojourn::queues {

// The deepest that it was.
struct HighWater {
  std::uint64_t depth = 0;
  std::uint64_t ts_ns = 0;
  std::uint64_t since_ns = 0;  // it had been empty until then, or the capture began
};

class Meter {
 public:
  // In the order of time. `depth` were inside already.
  void begin(std::uint64_t ts_ns, std::uint64_t depth = 0);
  void end_no_later_than(std::uint64_t ts_ns) { latest_ns_ = ts_ns; }  // who leaves then has waited
  void enter(std::uint64_t ts_ns);
  // `seen`: an item was seen to leave, at that time; else it was given up.
  void leave(std::uint64_t ts_ns, bool seen);
  // An item was seen to leave that never was among those inside.
  void leave_uncounted(std::uint64_t ts_ns);
  // One that just was given up had been told to be inside since then.
  void lingered(std::uint64_t entered_ns);
  // One that just left had been inside since then.
  void stayed(std::uint64_t entered_ns, std::uint64_t left_ns);
  void end(std::uint64_t ts_ns);

  std::uint64_t depth() const { return depth_; }
  // At the end: what nobody had taken by then was inside, though it is given up there.
  std::uint64_t inside() const { return depth_ + (given_up_ns_ == last_ns_ ? given_up_ : 0); }
  // Those that were never seen to leave, and how much of its depth is theirs.
  std::uint64_t given_up() const { return gone_.count(last_ns_); }
  double given_up_share() const;
  bool is_depth_known() const { return GivenUp::leaves_depth(given_up_share()); }
  std::uint64_t in() const { return in_; }
  std::uint64_t out() const { return out_; }
  const DepthHistogram& levels() const { return levels_; }
  const DepthSeries& series() const { return series_; }
  const Stretches& empty_stretches() const { return empty_; }
  const HighWater& high_water() const { return high_water_; }
  const statistics::Distribution& waits_ns() const { return waits_ns_; }
  const Moments& between_ns() const { return between_ns_; }  // arrivals
  // The time that its server had for an item: from its coming, or the leaving of the one before,
  // to its leaving. So the sum of all is the time in which the queue was not empty.
  const Moments& service_ns() const { return service_ns_; }

  double seconds() const { return static_cast<double>(last_ns_ - begin_ns_) / 1e9; }
  double arrivals_per_s() const;
  double services_per_s() const;
  std::optional<double> utilisation() const;  // the share of time in which it held something
  // The share of time that the server had for items that it finished. Less than utilisation() where
  // items lay in it that nobody ever took.
  double served() const;
  // Little's law: mean depth = arrivals a second times mean wait. The right side.
  double arrivals_times_wait() const;
  // The mean time in it by Kingman's approximation, beside waits_ns().mean().
  std::optional<double> predicted_ns() const { return kingman(between_ns_, service_ns_); }

 private:
  void advance(std::uint64_t ts_ns);

  DepthHistogram levels_;
  DepthSeries series_;
  Stretches empty_;
  HighWater high_water_;
  statistics::Distribution waits_ns_;
  Moments between_ns_;
  Moments service_ns_;
  std::uint64_t begin_ns_ = 0;
  std::uint64_t latest_ns_ = UINT64_MAX;
  std::uint64_t last_ns_ = 0;
  std::uint64_t empty_since_ns_ = 0;
  std::uint64_t filled_since_ns_ = 0;
  std::uint64_t last_in_ns_ = 0;
  std::uint64_t last_out_ns_ = 0;
  GivenUp gone_;
  std::uint64_t given_up_ns_ = 0;  // the last time, and how many were then
  std::uint64_t given_up_ = 0;
  std::uint64_t depth_ = 0;
  std::uint64_t in_ = 0;
  std::uint64_t out_ = 0;
};

}  // namespace sojourn::queues
