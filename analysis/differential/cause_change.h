// Finds the causes of lateness that grew from one side to the other. On both sides a packet is late
// if it took longer than one common limit. A cause is measured by the late packets of which it was
// the main cause, and by its time in all late packets. Plain data and functions without state.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace sojourn::differential {

struct CauseOfRun {
  std::uint64_t packets = 0;  // late packets of which it was the main cause
  std::uint64_t ns = 0;       // its time in all late packets
};

// The causes of lateness in one trace, by their text, so that traces of different builds can be
// compared.
struct RunCauses {
  std::uint64_t complete = 0;  // packets that have a latency
  std::uint64_t late = 0;
  std::map<std::string, CauseOfRun> causes = {};
};

struct CauseChange {
  std::string cause;
  double base_packets = 0;  // the share of all complete packets
  double now_packets = 0;
  std::optional<double> half;  // of the 95 % interval of the difference of shares; unset: one run
  double base_ns = 0;          // of late packets, for each complete packet
  double now_ns = 0;

  double by_ns() const { return now_ns - base_ns; }
};

// Sorted by growth in time: what grew most comes first, what shrank most last. Each run has the
// same weight.
std::vector<CauseChange> cause_changes(std::span<const RunCauses> base,
                                       std::span<const RunCauses> now);

}  // namespace sojourn::differential
