// One queue over time, from its samples: a sample holds until the next one. One thread owns a
// Gauge.
#pragma once

#include <cstdint>
#include <optional>

#include "analysis/model/queue_info.h"
#include "analysis/queues/depth_histogram.h"
#include "analysis/queues/depth_series.h"

namespace sojourn::queues {

// Spans in which a condition held without a break: their number, sum and longest.
struct Stretches {
  std::uint64_t count = 0;
  std::uint64_t total_ns = 0;
  std::uint64_t longest_ns = 0;
};

class Gauge {
 public:
  // In the order of time.
  void add(std::uint64_t ts_ns, const model::QueueSample& sample, std::uint64_t capacity);
  // The newest sample holds until then; from there to the next one the depth is not known.
  void pause(std::uint64_t ts_ns);
  void end();  // completes spans that last until the end

  bool empty() const { return rows_ == 0; }
  const DepthHistogram& levels() const { return levels_; }
  const DepthSeries& series() const { return series_; }
  const Stretches& empty_stretches() const { return empty_.done; }
  const Stretches& full_stretches() const { return full_.done; }
  std::uint64_t max_depth() const { return max_depth_; }
  std::uint64_t max_at_ns() const { return max_at_ns_; }
  std::uint64_t depth_now() const { return last_.depth(); }

  std::uint64_t rows() const { return rows_; }        // samples with changed counters
  std::uint64_t samples() const { return samples_; }  // all
  std::uint64_t unsettled() const {
    return unsettled_;
  }  // samples whose out is only known within bounds
  std::uint64_t first_ns() const { return first_ns_; }
  std::uint64_t last_ns() const { return last_ns_; }
  double seconds() const { return static_cast<double>(levels_.total_ns()) / 1e9; }
  std::uint64_t mean_span_ns() const { return rows_ == 0 ? 0 : total_span_ns_ / rows_; }
  std::uint64_t longest_span_ns() const { return longest_span_ns_; }
  std::uint64_t longest_gap_ns() const { return longest_gap_ns_; }  // unseen while it moved

  // Items that went in and out between the first and the last sample, and the last counters.
  std::uint64_t in() const { return in_; }
  std::uint64_t out() const { return out_; }
  const model::QueueSample& last() const { return last_; }

 private:
  struct Running {
    std::optional<std::uint64_t> since_ns;
    Stretches done;
    void note(bool is_so, std::uint64_t ts_ns);
  };

  void hold(std::uint64_t ts_ns);  // the last depth lasted until then

  DepthHistogram levels_;
  DepthSeries series_;
  Running empty_;
  Running full_;
  model::QueueSample last_;
  std::uint64_t rows_ = 0;
  bool is_paused_ = false;
  std::uint64_t samples_ = 0;
  std::uint64_t unsettled_ = 0;
  std::uint64_t first_ns_ = 0;
  std::uint64_t last_ns_ = 0;
  std::uint64_t max_depth_ = 0;
  std::uint64_t max_at_ns_ = 0;
  std::uint64_t total_span_ns_ = 0;
  std::uint64_t longest_span_ns_ = 0;
  std::uint64_t longest_gap_ns_ = 0;
  std::uint64_t in_ = 0;
  std::uint64_t out_ = 0;
};

}  // namespace sojourn::queues
