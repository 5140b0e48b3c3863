#include "analysis/queues/gauge.h"

#include <algorithm>
#include <utility>

namespace sojourn::queues {

void Gauge::Running::note(bool is_so, std::uint64_t ts_ns) {
  if (is_so == since_ns.has_value()) return;
  if (is_so) {
    since_ns = ts_ns;
    return;
  }
  const std::uint64_t span_ns = ts_ns - *since_ns;
  since_ns.reset();
  ++done.count;
  done.total_ns += span_ns;
  done.longest_ns = std::max(done.longest_ns, span_ns);
}

void Gauge::add(std::uint64_t ts_ns, const model::QueueSample& sample, std::uint64_t capacity) {
  ts_ns = std::max(ts_ns, last_ns_);  // a damaged file may go back
  if (rows_ == 0) first_ns_ = ts_ns;
  if (rows_ != 0 && !std::exchange(is_paused_, false)) {
    hold(ts_ns);
    // Counters of one queue only rise; if they fall, the difference is not a number of items.
    if (sample.in >= last_.in) in_ += sample.in - last_.in;
    if (sample.out >= last_.out) out_ += sample.out - last_.out;
  }
  const std::uint64_t depth = sample.depth();
  if (rows_ == 0 || depth > max_depth_) {
    max_depth_ = depth;
    max_at_ns_ = ts_ns;
  }
  empty_.note(depth == 0, ts_ns);
  full_.note(capacity != 0 && depth >= capacity, ts_ns);
  ++rows_;
  samples_ += 1 + sample.same;
  unsettled_ += sample.slack != 0 ? 1 : 0;
  total_span_ns_ += sample.span_ns;
  longest_span_ns_ = std::max(longest_span_ns_, sample.span_ns);
  longest_gap_ns_ = std::max(longest_gap_ns_, sample.gap_ns);
  last_ = sample;
  last_ns_ = ts_ns;
}

void Gauge::hold(std::uint64_t ts_ns) {
  levels_.add(last_.depth(), ts_ns - last_ns_);
  series_.add(last_.depth(), last_ns_, ts_ns);
}

void Gauge::pause(std::uint64_t ts_ns) {
  if (rows_ == 0 || std::exchange(is_paused_, true)) return;
  ts_ns = std::max(ts_ns, last_ns_);
  hold(ts_ns);
  empty_.note(false, ts_ns);
  full_.note(false, ts_ns);
  last_ns_ = ts_ns;
}

void Gauge::end() {
  empty_.note(false, last_ns_);
  full_.note(false, last_ns_);
}

}  // namespace sojourn::queues
