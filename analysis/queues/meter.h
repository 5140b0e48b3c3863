// One queue over time, from the instants at which items enter and leave it: depths, waits, rates,
// and whether they fit together. The counterpart of Gauge, which has samples only. If it is not
// known how many were inside before the first event, depths are lower bounds. One thread owns a
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

// The high-water mark.
struct HighWater {
  std::uint64_t depth = 0;
  std::uint64_t ts_ns = 0;
  std::uint64_t since_ns = 0;  // it had been empty until then, or the capture began
};

class Meter {
 public:
  // In the order of time. `depth` items were inside already.
  void begin(std::uint64_t ts_ns, std::uint64_t depth = 0);
  // Later times count as this one: items that leave later have waited until then.
  void end_no_later_than(std::uint64_t ts_ns) { latest_ns_ = ts_ns; }
  void enter(std::uint64_t ts_ns);
  // `seen`: the item was seen to leave at that time; else it is given up.
  void leave(std::uint64_t ts_ns, bool seen);
  // An item left whose entering was not seen.
  void leave_uncounted(std::uint64_t ts_ns);
  // The item that was just given up had entered then.
  void lingered(std::uint64_t entered_ns);
  // The item that just left had entered then.
  void stayed(std::uint64_t entered_ns, std::uint64_t left_ns);
  void end(std::uint64_t ts_ns);

  std::uint64_t depth() const { return depth_; }
  // The items inside at the end: those that are given up at the end had not been taken by then.
  std::uint64_t inside() const { return depth_ + (given_up_ns_ == last_ns_ ? given_up_ : 0); }
  // The items that were never seen to leave, and their share of the depth.
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
  // The service time of an item: from its arrival, or the departure of the one before, to its
  // departure. So the sum of all is the time in which the queue was not empty.
  const Moments& service_ns() const { return service_ns_; }

  double seconds() const { return static_cast<double>(last_ns_ - begin_ns_) / 1e9; }
  double arrivals_per_s() const;
  double services_per_s() const;
  std::optional<double> utilisation() const;  // the share of time in which it held something
  // The share of time in which the server worked on items that left. Less than utilisation() if
  // items were inside that were never taken.
  double served() const;
  // The right side of Little's law: mean depth = arrivals a second times mean wait.
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
  std::uint64_t given_up_ns_ = 0;  // the last time of giving up, and how many were given up then
  std::uint64_t given_up_ = 0;
  std::uint64_t depth_ = 0;
  std::uint64_t in_ = 0;
  std::uint64_t out_ = 0;
};

}  // namespace sojourn::queues
