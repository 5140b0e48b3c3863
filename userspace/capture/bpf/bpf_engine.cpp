#include "userspace/capture/bpf/bpf_engine.h"

#include <algorithm>
#include <utility>

#include "userspace/base/clock.h"

namespace sojourn::capture {

Result<std::unique_ptr<BpfEngine>> BpfEngine::create(const target::Process& process,
                                                     target::Points points,
                                                     const BpfOptions& options) {
  const Mechanism mechanism = options.mechanism ? *options.mechanism : best_mechanism();
  SJ_TRY(programs, BpfPrograms::load(points, process.pid(), mechanism, options.ring_bytes,
                                     options.keep, options.processes));
  std::unique_ptr<BpfEngine> engine(
      new BpfEngine(process, std::move(points), mechanism, std::move(programs)));
  engine->poll_period_ = options.poll_period;
  engine->links_each_point_ = options.link_each_point;
  return engine;
}

Result<void> BpfEngine::connect(Outlet& outlet) {
  const auto cpus = static_cast<std::int32_t>(programs_.rings().size());
  for (std::int32_t cpu = 0; cpu < cpus; ++cpu) {
    const std::uint32_t stream = outlet.new_stream(
        {.engine = model::Engine::kBpf, .cpu = cpu, .tid = -1, .pid = process_->pid()});
    if (cpu == 0) first_stream_ = stream;
  }
  drain_.emplace(programs_.rings(), outlet.sink(), first_stream_, stamp_delay_ns_,
                 [&outlet](model::EventBatch batch) { outlet.push(std::move(batch)); });
  return {};
}

Result<void> BpfEngine::arm() {
  auto keeper = ProbeKeeper::attach(
      points_, process_->pid(), mechanism_, programs_,
      links_each_point_ ? Attachment::Links::kEachPoint : Attachment::Links::kEachFile);
  if (!keeper) return std::unexpected(process_->explain(std::move(keeper).error()));
  probes_.emplace(std::move(*keeper));
  return {};
}

void BpfEngine::remove_process(const target::Process& process) {
  if (&process != process_) return;
  close_at(base::monotonic_ns());
  has_ended_ = true;
}

Result<void> BpfEngine::switch_points(std::span<const model::PointId> points, bool on) {
  if (!probes_) return {};
  return on ? probes_->add(points) : probes_->remove(points);
}

// Perf uprobes take long to remove.
void BpfEngine::disarm() {
  if (mechanism_ == Mechanism::kUprobeMulti) probes_.reset();
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
