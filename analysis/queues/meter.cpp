#include "analysis/queues/meter.h"

#include <algorithm>

namespace sojourn::queues {

void Meter::begin(std::uint64_t ts_ns, std::uint64_t depth) {
  begin_ns_ = last_ns_ = empty_since_ns_ = filled_since_ns_ = ts_ns;
  depth_ = depth;
  high_water_ = {.depth = depth, .ts_ns = ts_ns, .since_ns = ts_ns};
}

void Meter::advance(std::uint64_t ts_ns) {
  ts_ns = std::min(ts_ns, latest_ns_);
  if (ts_ns <= last_ns_) return;
  levels_.add(depth_, ts_ns - last_ns_);
  series_.add(depth_, last_ns_, ts_ns);
  last_ns_ = ts_ns;
}

void Meter::enter(std::uint64_t ts_ns) {
  advance(ts_ns);
  if (depth_ == 0) {
    filled_since_ns_ = last_ns_;
    if (last_ns_ > empty_since_ns_) {
      const std::uint64_t span_ns = last_ns_ - empty_since_ns_;
      ++empty_.count;
      empty_.total_ns += span_ns;
      empty_.longest_ns = std::max(empty_.longest_ns, span_ns);
    }
  }
  if (in_ != 0 && ts_ns >= last_in_ns_) between_ns_.add(static_cast<double>(ts_ns - last_in_ns_));
  last_in_ns_ = ts_ns;
  ++in_;
  // The mark uses last_ns_: an item with an earlier stamp would seem to come before the queue
  // filled.
  if (++depth_ > high_water_.depth)
    high_water_ = {.depth = depth_, .ts_ns = last_ns_, .since_ns = filled_since_ns_};
}

void Meter::leave(std::uint64_t ts_ns, bool seen) {
  advance(ts_ns);
  if (depth_ == 1) empty_since_ns_ = last_ns_;
  if (depth_ != 0) --depth_;
  if (seen) {
    ++out_;
    return;
  }
  if (given_up_ns_ != last_ns_) given_up_ = 0;
  given_up_ns_ = last_ns_;
  ++given_up_;
}

void Meter::lingered(std::uint64_t entered_ns) {
  gone_.add(std::clamp(entered_ns, begin_ns_, last_ns_), last_ns_);
}

void Meter::leave_uncounted(std::uint64_t ts_ns) {
  advance(ts_ns);
  ++out_;
}

void Meter::stayed(std::uint64_t entered_ns, std::uint64_t left_ns) {
  entered_ns = std::min(entered_ns, left_ns);
  waits_ns_.add(left_ns - entered_ns);
  gone_.left(entered_ns, left_ns);
  const std::uint64_t had_ns = std::clamp(last_out_ns_, entered_ns, left_ns);
  service_ns_.add(static_cast<double>(left_ns - had_ns));
  last_out_ns_ = left_ns;
}

void Meter::end(std::uint64_t ts_ns) {
  advance(ts_ns);
  if (depth_ != 0 || last_ns_ <= empty_since_ns_) return;
  const std::uint64_t span_ns = last_ns_ - empty_since_ns_;
  ++empty_.count;
  empty_.total_ns += span_ns;
  empty_.longest_ns = std::max(empty_.longest_ns, span_ns);
}

double Meter::given_up_share() const {
  const double all_ns = levels_.mean() * static_cast<double>(levels_.total_ns());
  return gone_.share(last_ns_, all_ns);
}

double Meter::arrivals_per_s() const {
  return seconds() > 0 ? static_cast<double>(in_) / seconds() : 0;
}

double Meter::services_per_s() const {
  return seconds() > 0 ? static_cast<double>(out_) / seconds() : 0;
}

std::optional<double> Meter::utilisation() const {
  const auto total_ns = static_cast<double>(levels_.total_ns());
  if (total_ns == 0) return std::nullopt;
  return 1.0 - static_cast<double>(levels_.at_ns(0)) / total_ns;
}

double Meter::served() const {
  if (seconds() == 0) return 0;
  return service_ns_.mean() * static_cast<double>(service_ns_.count()) / 1e9 / seconds();
}

double Meter::arrivals_times_wait() const {
  return arrivals_per_s() * waits_ns_.mean() / 1e9;
}

}  // namespace sojourn::queues
