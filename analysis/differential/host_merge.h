// Merges traces of several hosts by the clock of the first. Packets that two hosts saw bound the
// relation of their clocks (clock_bounds.h). Every event of the other hosts is converted to the
// first one's clock, to the middle of the bounds. One thread owns these objects.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "analysis/base/result.h"
#include "analysis/differential/clock_bounds.h"
#include "analysis/differential/cpu_clocks.h"
#include "analysis/differential/host_clock.h"
#include "analysis/differential/sighting_search.h"
#include "analysis/journeys/rules.h"
#include "analysis/model/energy_info.h"
#include "analysis/model/event.h"
#include "analysis/model/schema.h"
#include "analysis/trace/reader.h"
#include "analysis/trace/writer.h"

namespace sojourn::differential {

struct MergeOptions {
  // The largest difference in speed of two clocks. Crystals are within 100 ppm.
  double max_drift = 500e-6;
  // The error within which the hosts' TAI is equal, as by PTP: then TAI relates the clocks, and
  // packets only check it. Unset: packets relate them.
  std::optional<double> tai_error_ns;
  // First the clocks of each trace's CPUs are made one, by the packets between them.
  bool by_cpu = false;
};

// The relation of two hosts' clocks, from the packets between them. Times are since the first event
// of each.
struct HostPair {
  std::size_t ours = 0;  // of the hosts
  std::size_t theirs = 0;
  std::uint64_t from_us = 0;  // packets that both saw
  std::uint64_t to_us = 0;
  ClockMap map;

  // Packets that were answered by one with their ids.
  std::uint64_t probes = 0;
  double best_half = 0;               // the least of Probe::half()
  std::uint64_t probes_disagree = 0;  // probes whose bounds and the map's exclude each other

  bool is_bounded() const { return from_us != 0 && to_us != 0 && !map.pieces().empty(); }
};

// Three hosts' pairs that contradict each other.
struct BrokenLoop {
  std::size_t first = 0, second = 0, third = 0;
  double by_ns = 0;
};

class HostMerge {
 public:
  // Reads the events of all: finds packets that two hosts saw. The readers outlive it.
  static Result<HostMerge> prepare(std::span<trace::Reader> hosts, const journeys::Rules& rules,
                                   const MergeOptions& options);

  const std::vector<HostPair>& pairs() const { return pairs_; }
  const std::vector<HostClock>& clocks() const { return clocks_; }  // of all hosts but the first
  const std::vector<BrokenLoop>& broken_loops() const { return broken_loops_; }
  const std::vector<CpuClocks>& cpu_clocks() const { return cpu_clocks_; }  // by host, if by_cpu

  // All events and energy readings of all hosts; kernel context, other samples and profiles of the
  // first host only.
  Result<void> write(std::span<trace::Reader> hosts, trace::Writer& writer,
                     std::string_view tracer) const;

  // The first host's time of an instant of another one's.
  std::uint64_t time_of(std::size_t host, std::uint64_t ts_ns) const;

 private:
  Result<void> find_pairs(std::span<trace::Reader> hosts, const journeys::Rules& rules,
                          const MergeOptions& options);
  void find_probes(std::span<const SightingSearch::Found> found, double max_drift);
  Result<void> find_clocks(std::span<trace::Reader> hosts);
  Result<void> find_clocks_by_tai(std::span<trace::Reader> hosts, double error_ns);
  void check_loops(std::span<trace::Reader> hosts);
  using Streams = std::set<std::uint32_t>;
  std::vector<model::ClockBound> bounds_of(const HostClock& clock) const;
  std::vector<model::MergedHost> merged_hosts(const model::Capture& capture, std::size_t host,
                                              std::uint32_t first_stream) const;
  model::PointId point_of_all(std::size_t host, model::PointId point) const;
  void add_spans(const model::Capture& capture, std::size_t host, std::size_t numbered,
                 model::Capture& all) const;
  static Streams streams_left_out(trace::Reader& reader, std::size_t host);
  void join_energy(std::span<trace::Reader> hosts);
  void add_to_energy_ids(std::size_t host, model::EventColumns& columns) const;
  // `numbered`: how many hosts' threads have their numbers already.
  Result<void> write_events(trace::Reader& reader, std::size_t host, std::uint32_t first_stream,
                            std::size_t numbered, const Streams& left_out,
                            trace::Writer& writer) const;

  model::Schema schema_;                             // of all
  std::vector<std::vector<model::PointId>> points_;  // by host and its point: the one of all
  std::vector<std::uint64_t> origins_;               // by host
  std::vector<std::uint64_t> ends_;
  std::uint64_t by_first_cpu(std::size_t host, std::uint32_t stream, std::uint64_t ts_ns) const {
    return cpu_clocks_.empty() ? ts_ns : cpu_clocks_[host].corrected_ns(stream, ts_ns);
  }

  std::vector<CpuClocks> cpu_clocks_;
  std::vector<HostPair> pairs_;
  std::vector<HostClock> clocks_;
  std::vector<BrokenLoop> broken_loops_;

  struct EnergyIds {
    std::uint32_t zone = 0;
    std::uint32_t policy = 0;
    std::uint32_t state = 0;
  };
  model::Energy energy_;                                               // of all
  std::vector<std::optional<model::EnergyReadingKind>> energy_kinds_;  // by point of all
  std::vector<EnergyIds> first_energy_ids_;  // by host: the amount that is added to its ids
  EnergyIds next_energy_ids_;
};

}  // namespace sojourn::differential
