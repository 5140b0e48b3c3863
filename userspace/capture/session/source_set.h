// All sources of a capture, in one list: the engines of its processes first, then the other
// sources. Operations on all of them are here; some of them are selected by kind (rings(), bpf(),
// engines_of()). The counts of a source that is taken out stay here. The capture's thread owns the
// set; destroying it removes the probes.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <ranges>
#include <span>
#include <utility>
#include <vector>

#include "analysis/base/result.h"
#include "analysis/model/capture_info.h"
#include "userspace/capture/bpf/bpf_engine.h"
#include "userspace/capture/output/capture_output.h"
#include "userspace/capture/output/source.h"
#include "userspace/capture/rings/ring_engine.h"

namespace sojourn::capture {

struct TracedProcess;

// A source and its kind, which is set where the source is made, so that no dynamic_cast is needed.
struct SourceEntry {
  std::unique_ptr<Source> source;
  const TracedProcess* process = nullptr;  // for an engine: the process whose hits it records
  EventEngine* engine = nullptr;           // the source, where it is one
  RingEngine* rings = nullptr;
  BpfEngine* bpf = nullptr;
  std::size_t kind = 0;  // for other sources: the index in Options::others

  static SourceEntry of(std::unique_ptr<RingEngine> engine, const TracedProcess& process);
  static SourceEntry of(std::unique_ptr<BpfEngine> engine, const TracedProcess& process);
  static SourceEntry of(std::unique_ptr<Source> other, std::size_t kind);
};
using SourceEntries = std::vector<SourceEntry>;

// The entries of one kind, as a range of pointers.
inline auto rings_of(const SourceEntries& entries) {
  return entries | std::views::transform([](const SourceEntry& one) { return one.rings; }) |
         std::views::filter([](const RingEngine* engine) { return engine != nullptr; });
}
inline auto bpf_of(const SourceEntries& entries) {
  return entries | std::views::transform([](const SourceEntry& one) { return one.bpf; }) |
         std::views::filter([](const BpfEngine* engine) { return engine != nullptr; });
}
inline auto engines_of(const SourceEntries& entries) {
  return entries | std::views::transform([](const SourceEntry& one) { return one.engine; }) |
         std::views::filter([](const EventEngine* engine) { return engine != nullptr; });
}

// The distance of marks: every CPU sees a gate's new time before that time comes.
constexpr std::uint64_t kGateLeadNs = 1'000'000;

// Sets the open mark of these sources, the same for all; at the latest `latest_ns`, even if that
// has passed.
Result<std::uint64_t> open_together(const SourceEntries& entries,
                                    std::uint64_t latest_ns = UINT64_MAX);

class SourceSet {
 public:
  void add(SourceEntries made);
  // Destroys all sources, and removes their probes.
  void clear() { entries_.clear(); }

  const SourceEntries& entries() const { return entries_; }
  auto rings() const { return rings_of(entries_); }
  auto bpf() const { return bpf_of(entries_); }
  auto engines() const { return engines_of(entries_); }
  bool has_rings() const;
  bool has_bpf() const;
  bool has_engines() const;
  bool has_engines_of(const TracedProcess& process) const;

  Result<void> connect(CaptureOutput& output);
  Result<void> arm();
  // Sets the open mark. Earlier events are kept as far back as every engine has all of them.
  Result<std::uint64_t> open();
  void close_at(std::uint64_t monotonic_ns);
  void remove_process(const tracee::Process& process);
  Result<void> settle();
  Result<void> settle_so_far();
  void mark();
  bool are_past_mark() const;
  void disarm();

  Result<bool> poll();  // true: there are more events
  void flush();
  std::chrono::microseconds poll_period() const;

  // Takes out the eBPF engines of a process that has ended, once their rings are empty. Their
  // counts stay.
  Result<SourceEntries> take_bpf_of(const TracedProcess& process);

  // Counts over all sources, including those that were taken out.
  Result<void> add_losses(model::Ledger& ledger) const;
  Result<std::vector<std::uint64_t>> hits() const;  // by stream
  std::uint64_t engine_events() const;
  std::uint64_t other_events() const;
  std::uint64_t stamp_error_ns() const;
  std::uint64_t events_of_unknown_cpu() const;
  std::optional<RingAdvice> ring_advice() const;
  std::vector<model::ShedSpan> silences() const;
  std::vector<Source::Description> descriptions() const;
  std::size_t probes_armed() const;

 private:
  SourceEntries entries_;
  // Losses of engines that were taken out.
  model::Ledger past_losses_;
  std::vector<std::uint64_t> past_hits_;
  std::uint64_t past_events_ = 0;
};

}  // namespace sojourn::capture
