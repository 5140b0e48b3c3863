// Mean and variance of times, without keeping them, and what queueing theory derives from them.
#pragma once

#include <cstdint>
#include <optional>

namespace sojourn::queues {

class Moments {
 public:
  void add(double value) {
    ++count_;
    const double delta = value - mean_;
    mean_ += delta / static_cast<double>(count_);
    squares_ += delta * (value - mean_);
  }

  std::uint64_t count() const { return count_; }
  double mean() const { return mean_; }
  double variance() const { return count_ < 2 ? 0 : squares_ / static_cast<double>(count_ - 1); }
  // The squared coefficient of variation: 0 for a constant, 1 for random arrivals (Poisson).
  double scv() const { return mean_ > 0 ? variance() / (mean_ * mean_) : 0; }

 private:
  std::uint64_t count_ = 0;
  double mean_ = 0;
  double squares_ = 0;
};

// Kingman's approximation of the mean time in a G/G/1 queue: one server, first come first served,
// from the first two moments of the times between arrivals and of the service. Nothing if the
// server cannot keep up, or if there were too few items.
inline std::optional<double> kingman(const Moments& between, const Moments& service) {
  constexpr std::uint64_t kEnough = 100;
  if (between.count() < kEnough || service.count() < kEnough || between.mean() <= 0)
    return std::nullopt;
  const double load = service.mean() / between.mean();
  if (load >= 1) return std::nullopt;
  const double wait = load / (1 - load) * (between.scv() + service.scv()) / 2 * service.mean();
  return wait + service.mean();
}

}  // namespace sojourn::queues
