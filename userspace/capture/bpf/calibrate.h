// Measures what a hit costs the target, on this machine and kernel, before anything is attached:
// with the same program that will run, on nops of our own, in a child process of this one. It takes
// some milliseconds, and must be called while this process has one thread.
//
// A cost is the time from before the site to behind it, by many short runs
// (cost_of_runs.h). A stamp's delay
// is the time from reaching the site to the stamp, the least of all hits, so that no corrected
// stamp is before its hit. `stamp_spread_ns` is how far behind it 99 of 100 stamps are.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "analysis/base/result.h"
#include "analysis/model/schema.h"
#include "userspace/base/privileged_helper.h"
#include "userspace/capture/bpf/bpf_programs.h"
#include "userspace/tracee/program_points.h"

namespace sojourn::capture {

// The cost of one engine's hits, in picoseconds, as a hit by rings takes ten nanoseconds.
class HitCost {
 public:
  struct At {
    std::uint32_t args = 0;
    std::uint64_t ps = 0;
  };
  HitCost() = default;
  // `measured` is sorted by args. Between two entries, and beyond the last, the cost is a straight
  // line. `spread` is the spread of each cost, as a share of it.
  HitCost(std::vector<At> measured, std::uint64_t memory_argument_ps, double spread = 0)
      : measured_(std::move(measured)), memory_argument_ps_(memory_argument_ps), spread_(spread) {}

  std::uint64_t ps(std::size_t args, std::size_t memory_args = 0) const;
  const std::vector<At>& measured() const { return measured_; }
  std::uint64_t memory_argument_ps() const { return memory_argument_ps_; }
  double spread() const { return spread_; }

 private:
  std::vector<At> measured_;
  std::uint64_t memory_argument_ps_ = 0;  // more than one in a register
  double spread_ = 0;
};

struct BpfCosts {
  HitCost hit;
  std::uint64_t stamp_delay_ns = 0;
  std::uint64_t stamp_spread_ns = 0;
  std::uint64_t stepped_ps = 0;  // more at an instruction that is executed in a single step
  std::uint64_t return_ps = 0;   // more of a uretprobe, which is hit at both ends of a call
};

// The costs to measure: of arguments up to a number, and of features that not every target uses.
struct CostNeeds {
  std::uint32_t args = 0;
  bool steps = false;
  bool returns = false;

  void add(const tracee::Site& site);
};

Result<BpfCosts> calibrate_bpf(Mechanism mechanism, const CostNeeds& needs);

// Answers a request in the privileged helper.
Result<base::Answer> measure_for(base::Unpacker& wanted);

// Derives the cost from the cost of reading the cycle counter, which is nearly all of it: the ratio
// of the two was measured once (tests/bench/probe-cost, docs/rings.md).
HitCost calibrate_ring();

std::uint64_t bpf_site_cost_ps(const tracee::Site& site, const BpfCosts& costs);

// The cost of one hit of each point: that of its most expensive site.
std::vector<std::uint64_t> bpf_point_costs_ps(const tracee::Points& points, const BpfCosts& costs);
std::vector<std::uint64_t> ring_point_costs_ps(const model::Schema& schema, const HitCost& cost);

}  // namespace sojourn::capture
