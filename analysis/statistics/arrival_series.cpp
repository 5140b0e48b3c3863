#include "analysis/statistics/arrival_series.h"

#include <algorithm>

namespace sojourn::statistics {
namespace {

constexpr std::uint64_t kMs = 1'000'000;
constexpr std::uint64_t kSecond = 1'000'000'000;

}  // namespace

void ArrivalSeries::add(std::uint64_t at_ns) {
  if (count_++ == 0) {
    first_ns_ = at_ns;
  } else {
    gaps_ns_.add(at_ns - last_ns_);
    const bool same_second = (at_ns - first_ns_) / kSecond == (last_ns_ - first_ns_) / kSecond;
    const bool same_ms = (at_ns - first_ns_) / kMs == (last_ns_ - first_ns_) / kMs;
    if (!same_second) {
      busiest_ = busiest(kSecond / kMs);
      in_this_second_ = busiest_of_second_ = 0;
    }
    if (!same_ms) in_this_ms_ = 0;
  }
  last_ns_ = at_ns;
  ++in_this_second_;
  busiest_of_second_ = std::max(busiest_of_second_, ++in_this_ms_);
}

ArrivalSeries::Busiest ArrivalSeries::busiest(std::uint64_t ms_of_second) const {
  if (count_ == 0 || busiest_of_second_ <= busiest_.count) return busiest_;
  const double mean = static_cast<double>(in_this_second_) / static_cast<double>(ms_of_second);
  return {busiest_of_second_, static_cast<double>(busiest_of_second_) / mean};
}

ArrivalSeries::Busiest ArrivalSeries::busiest_so_far() const {
  // The last second counts as far as it went.
  return busiest((last_ns_ - first_ns_) % kSecond / kMs + 1);
}

std::uint64_t ArrivalSeries::busiest_ms() const {
  return busiest_so_far().count;
}

double ArrivalSeries::burstiness() const {
  return busiest_so_far().times_mean;
}

}  // namespace sojourn::statistics
