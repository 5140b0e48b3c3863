// Faults planted from the command line: a slow stage burns time on each unit, a sleeping one sleeps
// on every n-th, a dropping one discards units, a preempted one shares its CPU with a neighbour
// that has precedence (neighbour.h). `Faults` are the options; each stage takes its own
// `StageFaults`, with its own random numbers, used by that stage's thread only.
#pragma once

#include <atomic>
#include <cstdint>
#include <random>
#include <string>
#include <string_view>
#include <vector>

#include "analysis/base/result.h"

namespace sojourn::basestation {

// A place where faults can be planted, named after the layer in the points.
struct FaultPlace {
  std::string_view name;
  std::string_view thread;
  bool can_drop;  // the layer has a point that ends in "--drop"
};

inline constexpr FaultPlace kFaultPlaces[] = {
    {"ip.in", "dl-gtp", false},     {"pdcp.in", "dl-pdcp", true}, {"rlc.tx", "mac", true},
    {"mac", "mac", true},           {"phy.out", "dl-phy", false}, {"phy.in", "ul-phy", true},
    {"mac.demux", "ul-mac", false}, {"pdcp.rx", "ul-pdcp", true}, {"gtp.tx", "ul-gtp", false},
};

// A neighbour takes a thread's CPU for `spin_ns` in every `period_ns`.
struct Preempt {
  std::string_view thread;
  std::uint64_t spin_ns = 0;
  std::uint64_t period_ns = 0;
};

class StageFaults {
 public:
  // Called for each unit, before it is worked on.
  void work() {
    if (slow_ns_ != 0 || sleep_every_ != 0) delay();
  }
  bool drop() { return drop_probability_ > 0 && chance_(random_) < drop_probability_; }

 private:
  friend class Faults;
  void delay();

  std::uint64_t slow_ns_ = 0;
  std::uint64_t sleep_ns_ = 0;
  std::uint64_t sleep_every_ = 0;
  std::uint64_t units_ = 0;
  double drop_probability_ = 0;
  const std::atomic<bool>* working_ = nullptr;
  std::mt19937_64 random_;
  std::uniform_real_distribution<double> chance_{0.0, 1.0};
};

class Faults {
 public:
  Result<void> add_slow(std::string_view text);     // NAME:us
  Result<void> add_sleep(std::string_view text);    // NAME:us:every
  Result<void> add_drop(std::string_view text);     // NAME:probability
  Result<void> add_preempt(std::string_view text);  // NAME:us:ms

  const std::vector<Preempt>& preempts() const { return preempts_; }

  // `working` ends all delays when it turns false, so that a slow stage can be stopped.
  StageFaults of(std::string_view place, std::uint64_t seed,
                 const std::atomic<bool>& working) const;

 private:
  struct Planted {
    std::string place;
    std::uint64_t slow_us = 0;
    std::uint64_t sleep_us = 0;
    std::uint64_t sleep_every = 0;
    double drop_probability = 0;
  };
  std::vector<Planted> planted_;
  std::vector<Preempt> preempts_;
};

// "ip.in, pdcp.in, ..." for the help text; only the ones that can drop on demand.
std::string fault_place_names(bool only_dropping);

}  // namespace sojourn::basestation
