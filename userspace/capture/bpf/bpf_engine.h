// The eBPF engine: the kernel traps on every site and runs our program there. It works with targets
// of any build, and needs rights to eBPF.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "userspace/capture/bpf/bpf_programs.h"
#include "userspace/capture/bpf/drain.h"
#include "userspace/capture/bpf/probe_keeper.h"
#include "userspace/capture/output/event_engine.h"
#include "userspace/tracee/process.h"
#include "userspace/tracee/program_points.h"

namespace sojourn::capture {

struct BpfOptions {
  std::optional<Mechanism> mechanism;  // unset: the best that the kernel has
  std::size_t ring_bytes = 0;          // a CPU; 0: chosen from the number of CPUs
  std::size_t processes = 1;           // each with rings of its own, for which the memory is shared
  std::chrono::microseconds poll_period{10'000};
  PointTests keep;  // the tests that a hit must pass; others are filtered
};

class BpfEngine final : public EventEngine {
 public:
  static Result<std::unique_ptr<BpfEngine>> create(const tracee::Process& process,
                                                   tracee::Points points,
                                                   const BpfOptions& options);

  Mechanism chosen() const { return programs_.mechanism(); }
  const tracee::Points& points() const { return points_; }

  // Sets how late its stamps are, and by how much more they may be; before connect(). The gate
  // opens and closes later by the same delay, so that corrected stamps lie between the marks.
  void correct_stamps(std::uint64_t delay_ns, std::uint64_t spread_ns) {
    stamp_delay_ns_ = delay_ns;
    stamp_spread_ns_ = spread_ns;
  }

  Result<void> connect(CaptureOutput& output) override;
  Result<void> arm() override;
  void open_at(std::uint64_t monotonic_ns) override {
    programs_.open_gate_at(monotonic_ns + stamp_delay_ns_);
  }
  void close_at(std::uint64_t monotonic_ns) override {
    if (!has_ended_) programs_.close_gate_at(monotonic_ns + stamp_delay_ns_);
  }
  Result<void> start_over() override { return programs_.start_over(); }
  // Perf uprobes identify processes by their pid alone, which may be reused.
  void remove_process(const tracee::Process& process) override;
  bool holds_probes() const { return !is_armed_ || probes_->is_alive(); }
  Result<void> settle() override { return programs_.wait_for_running(); }
  Result<bool> poll() override { return drain_->poll(); }
  void mark() override { drain_->mark(); }
  bool is_past_mark() const override { return drain_->is_past_mark(); }
  void flush() override { drain_->flush(); }
  std::chrono::microseconds poll_period() const override { return poll_period_; }
  void disarm() override;
  bool is_armed() const override { return is_armed_; }
  Result<void> add_losses(model::Ledger& ledger) const override;
  Result<void> add_hits(std::vector<std::uint64_t>& hits) const override;
  std::uint64_t events() const override { return drain_->events(); }
  Result<void> switch_points(std::span<const model::PointId> points, bool on) override;
  std::size_t sites() const override { return points_.sites.size(); }
  std::string mechanism() const override { return std::string(name(chosen())); }
  std::uint64_t stamp_error_ns() const override { return stamp_spread_ns_; }

 private:
  BpfEngine(const tracee::Process& process, tracee::Points points, ProbeKeeper probes)
      : process_(&process),
        points_(std::move(points)),
        programs_(probes.take_programs()),
        probes_(std::move(probes)) {}

  const tracee::Process* process_;
  tracee::Points points_;
  std::chrono::microseconds poll_period_{};
  BpfPrograms programs_;
  std::optional<Drain> drain_;
  bool has_ended_ = false;  // its process has ended
  std::uint64_t stamp_delay_ns_ = 0;
  std::uint64_t stamp_spread_ns_ = 0;
  std::uint32_t first_stream_ = 0;  // the CPUs' streams follow each other
  std::optional<ProbeKeeper> probes_;
  bool is_armed_ = false;
};

}  // namespace sojourn::capture
