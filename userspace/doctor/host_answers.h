// Tries what only trials on this kernel can show: which programs can be loaded and attached, how
// probes behave in a process of our own, and their costs. No other process is touched. It must be
// called while this process has one thread.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "analysis/base/result.h"
#include "userspace/capture/api.h"

namespace sojourn::doctor {

// Whether a probe counts correctly: the hits of all threads of its process, and of no other
// process.
struct PidAnswer {
  bool counts_threads = false;
  bool counts_others = false;
};

// A nop of a certain length under a probe.
struct NopAnswer {
  unsigned bytes = 0;
  std::string refused;        // the kernel's error, if it refuses to probe it
  bool is_optimised = false;  // no trap any more
  bool keeps_red_zone = true;
  bool keeps_children = true;  // children that are forked meanwhile survive
  std::uint64_t hit_ps = 0;

  bool is_safe() const { return keeps_red_zone && keeps_children; }
  bool may_be_probed(bool is_emulated) const {
    return refused.empty() && is_safe() && (is_optimised || is_emulated);
  }
};

struct BpfAnswers {
  capture::Mechanism mechanism = capture::Mechanism::kPerfUprobes;
  PidAnswer pid;
  capture::BpfCosts costs;
  std::vector<NopAnswer> nops;  // the plain one first
  std::uint64_t stepped_hit_ps = 0;
};

struct ClockAnswers {
  std::uint64_t resolution_ns = 0;
  std::uint64_t pair_error_ns = 0;     // CLOCK_MONOTONIC with CLOCK_REALTIME
  std::uint64_t counter_error_ns = 0;  // with the cycle counter
};

struct HostAnswers {
  std::string machine;  // "x86_64"
  std::optional<BpfAnswers> bpf;
  std::string why_not_bpf;
  capture::HitCost ring_hit;
  ClockAnswers clocks;
  capture::CounterOffsets counters;
  std::string why_not_hardware_counters;
  std::string why_not_software_counters;
};

HostAnswers ask_host();

}  // namespace sojourn::doctor
