#include "analysis/statistics/distribution.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <span>

#include "analysis/statistics/radix_sort.h"
#include "analysis/statistics/share.h"

namespace sojourn::statistics {
namespace {

// A row holds the values of one power of two in equal steps; a step is below 0.1 % of its values.
constexpr unsigned kStepBits = 10;
constexpr std::size_t kSteps = std::size_t{1} << kStepBits;
constexpr std::size_t kRows = 64 - kStepBits + 1;
// For fewer samples a comparison sort is faster than a radix sort.
constexpr std::size_t kManySamples = 4096;

struct Bucket {
  std::size_t row = 0;
  std::size_t step = 0;
};

// Row 0 counts the values below kSteps one by one.
Bucket bucket_of(std::uint64_t value) {
  const auto bits = static_cast<unsigned>(std::bit_width(value));
  if (bits <= kStepBits) return {0, static_cast<std::size_t>(value)};
  const auto shift = bits - kStepBits - 1;
  return {bits - kStepBits, static_cast<std::size_t>(value >> shift) - kSteps};
}

std::uint64_t lowest(Bucket bucket) {
  if (bucket.row == 0) return bucket.step;
  return (kSteps + bucket.step) << (bucket.row - 1);
}

std::uint64_t width(Bucket bucket) {
  return bucket.row == 0 ? 1 : std::uint64_t{1} << (bucket.row - 1);
}

}  // namespace

// Grows by large steps: reserved memory costs nothing before it is written, but each reallocation
// copies everything.
void Distribution::add_with_room(std::uint64_t value) {
  constexpr std::size_t kFirst = 64;
  constexpr std::size_t kStep = 8;
  if (samples_.size() >= max_waiting_) settle();
  if (samples_.size() == samples_.capacity())
    samples_.reserve(std::clamp(samples_.size() * kStep, kFirst, kExactSamples + 1));
  until_ = std::min(samples_.capacity(), max_waiting_);
  samples_.push_back(value);
}

void Distribution::settle() const {
  count_waiting();
  if (buckets_.empty() && samples_.size() <= kExactSamples) return;
  fill_buckets();
}

void Distribution::count_waiting() const {
  const auto waiting = std::span(samples_).subspan(counted_);
  if (waiting.empty()) return;
  if (count_ == 0) origin_ = waiting.front();
  const auto origin = static_cast<double>(origin_);
  auto distances = distances_;
  auto squares = squares_;
  auto sum = sum_;
  auto min = min_;
  auto max = max_;
  for (const auto value : waiting) {
    const double distance = static_cast<double>(value) - origin;
    distances += distance;
    squares += distance * distance;
    sum += static_cast<double>(value);
    min = std::min(min, value);
    max = std::max(max, value);
  }
  distances_ = distances;
  squares_ = squares;
  sum_ = sum;
  min_ = min;
  max_ = max;
  count_ += waiting.size();
  counted_ = samples_.size();
}

void Distribution::fill_buckets() const {
  if (buckets_.empty()) {
    buckets_.resize(kRows);
    for (const auto sample : samples_) add_to_bucket(sample, 1);
    samples_ = {};
    samples_.reserve(kMaxWaiting);
    max_waiting_ = kMaxWaiting;
  } else {
    for (const auto sample : samples_) add_to_bucket(sample, 1);
    samples_.clear();
  }
  counted_ = sorted_ = 0;
  until_ = std::min(samples_.capacity(), max_waiting_);
}

void Distribution::add_to_bucket(std::uint64_t value, std::uint64_t times) const {
  const auto bucket = bucket_of(value);
  auto& row = buckets_[bucket.row];
  if (row.empty()) row.resize(kSteps);
  row[bucket.step] += times;
}

void Distribution::merge(const Distribution& other) {
  settle();
  other.settle();
  if (count_ == 0) origin_ = other.origin_;
  const double apart = static_cast<double>(other.origin_) - static_cast<double>(origin_);
  const auto theirs = static_cast<double>(other.count_);
  squares_ += other.squares_ + 2 * apart * other.distances_ + theirs * apart * apart;
  distances_ += other.distances_ + theirs * apart;
  count_ += other.count_;
  sum_ += other.sum_;
  min_ = std::min(min_, other.min_);
  max_ = std::max(max_, other.max_);
  samples_.append(other.samples_);
  counted_ = samples_.size();
  until_ = counted_;
  const bool exact = buckets_.empty() && other.buckets_.empty();
  if (exact && samples_.size() <= kExactSamples) return;
  fill_buckets();
  for (std::size_t row = 0; row < other.buckets_.size(); ++row)
    for (std::size_t step = 0; step < other.buckets_[row].size(); ++step)
      if (other.buckets_[row][step] != 0)
        add_to_bucket(lowest({row, step}), other.buckets_[row][step]);
}

std::uint64_t Distribution::quantile(double share) const {
  if (count() == 0) return 0;
  // Corrects rounding of the product: 13 of 1.3 million are exactly 1e-5 of them, not a little
  // less.
  constexpr double kRounded = 1 - 4 * std::numeric_limits<double>::epsilon();
  const auto wanted =
      std::ceil(std::clamp(share, 0.0, 1.0) * static_cast<double>(count_) * kRounded);
  const auto rank = std::clamp<std::uint64_t>(static_cast<std::uint64_t>(wanted), 1, count_);
  if (exact()) {
    sort();
    return samples_[rank - 1];
  }
  if (rank == count_) return max_;
  std::uint64_t seen = 0;
  for (std::size_t row = 0; row < buckets_.size(); ++row) {
    for (std::size_t step = 0; step < buckets_[row].size(); ++step) {
      seen += buckets_[row][step];
      if (seen >= rank) return std::clamp(lowest({row, step}) + width({row, step}) / 2, min_, max_);
    }
  }
  return max_;
}

void Distribution::sort() const {
  if (sorted_ == samples_.size()) return;
  if (samples_.size() < kManySamples)
    std::ranges::sort(samples_);
  else
    radix_sort(std::span(samples_), max_);
  sorted_ = samples_.size();
}

double Distribution::stdev() const {
  if (count() < 2) return 0;
  const auto n = static_cast<double>(count_);
  return std::sqrt(std::max(0.0, squares_ - distances_ * distances_ / n) / (n - 1));
}

Distribution::Interval Distribution::confidence(double share) const {
  if (count() == 0) return {};
  const auto n = static_cast<double>(count_);
  const double reach = kDeviations95 * std::sqrt(n * share * (1 - share));
  Interval interval = {quantile((n * share - reach) / n), std::nullopt};
  // All samples may be below the quantile, and ranks of few samples do not show how likely that is.
  const bool open = std::pow(share, n) > 0.025;
  if (const double rank = std::ceil(n * share + reach); rank <= n && !open)
    interval.high = quantile(rank / n);
  return interval;
}

std::uint64_t Distribution::above(std::uint64_t value) const {
  if (exact())
    return static_cast<std::uint64_t>(
        std::ranges::count_if(samples_, [value](auto sample) { return sample > value; }));
  std::uint64_t seen = 0;
  for (std::size_t row = 0; row < buckets_.size(); ++row)
    for (std::size_t step = 0; step < buckets_[row].size(); ++step)
      if (lowest({row, step}) > value) seen += buckets_[row][step];
  return seen;
}

}  // namespace sojourn::statistics
