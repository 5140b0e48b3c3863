#include "userspace/capture/bpf/bpf_engine.h"

#include <algorithm>
#include <utility>

#include "userspace/base/clock.h"

namespace sojourn::capture {

Result<std::unique_ptr<BpfEngine>> BpfEngine::create(const tracee::Process& process,
                                                     tracee::Points points,
                                                     const BpfOptions& options) {
  ProbeOrder order{.pid = process.pid(),
                   .mechanism = options.mechanism,
                   .ring_bytes = options.ring_bytes,
                   .objects = options.processes,
                   .keep = options.keep,
                   .points = {}};
  order.points.files = points.files;
  order.points.sites = points.sites;
  SJ_TRY(probes, ProbeKeeper::start(order));
  std::unique_ptr<BpfEngine> engine(new BpfEngine(process, std::move(points), std::move(probes)));
  engine->poll_period_ = options.poll_period;
  return engine;
}

Result<void> BpfEngine::connect(CaptureOutput& output) {
  const auto cpus = static_cast<std::int32_t>(programs_.rings().size());
  for (std::int32_t cpu = 0; cpu < cpus; ++cpu) {
    const std::uint32_t stream = output.new_stream(
        {.engine = model::Engine::kBpf, .cpu = cpu, .tid = -1, .pid = process_->pid()});
    if (cpu == 0) first_stream_ = stream;
  }
  drain_.emplace(programs_.rings(), output.sink(), first_stream_, stamp_delay_ns_,
                 [&output](model::EventBatch batch) { output.push(std::move(batch)); });
  return {};
}

Result<void> BpfEngine::arm() {
  if (auto armed = probes_->arm(); !armed)
    return std::unexpected(process_->explain(std::move(armed).error()));
  is_armed_ = true;
  return {};
}

void BpfEngine::remove_process(const tracee::Process& process) {
  if (&process != process_) return;
  close_at(base::monotonic_ns());
  has_ended_ = true;
}

Result<void> BpfEngine::switch_points(std::span<const model::PointId> points, bool on) {
  if (!is_armed_) return {};
  return on ? probes_->add(points) : probes_->remove(points);
}

// Perf uprobes take long to remove.
void BpfEngine::disarm() {
  if (chosen() != Mechanism::kUprobeMulti) return;
  probes_.reset();
  is_armed_ = false;
}

Result<void> BpfEngine::add_losses(model::Ledger& ledger) const {
  SJ_TRY(losses, programs_.losses());
  for (model::LedgerEntry& entry : losses) entry.stream += first_stream_;
  ledger.insert(ledger.end(), losses.begin(), losses.end());
  return {};
}

Result<void> BpfEngine::add_hits(std::vector<std::uint64_t>& hits) const {
  const auto by_cpu = programs_.hits();
  hits.resize(std::max(hits.size(), first_stream_ + by_cpu.size()));
  std::ranges::copy(by_cpu, hits.begin() + first_stream_);
  return {};
}

}  // namespace sojourn::capture
