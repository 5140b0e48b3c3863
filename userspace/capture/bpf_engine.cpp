#include "userspace/capture/bpf_engine.h"

#include <iterator>
#include <utility>

namespace sojourn::capture {

Result<std::unique_ptr<BpfEngine>> BpfEngine::create(const target::Process& process,
                                                     const target::Points& points,
                                                     const BpfOptions& options) {
  const Mechanism mechanism = options.mechanism ? *options.mechanism : best_mechanism();
  SJ_TRY(programs, BpfPrograms::load(points, process.pid(), mechanism, options.ring_bytes));
  std::unique_ptr<BpfEngine> engine(new BpfEngine(process, points, mechanism, std::move(programs)));
  engine->poll_period_ = options.poll_period;
  return engine;
}

void BpfEngine::connect(Sink& sink) {
  for (std::uint32_t cpu = 0; cpu < programs_.rings().size(); ++cpu)
    sink.push(model::Stream{.id = cpu,
                            .engine = model::Engine::kBpf,
                            .cpu = static_cast<std::int32_t>(cpu),
                            .tid = -1});
  drain_.emplace(programs_.rings(), sink);
}

Result<void> BpfEngine::arm() {
  auto attachment = Attachment::attach(*points_, process_->pid(), mechanism_, programs_);
  if (!attachment) return std::unexpected(process_->explain(std::move(attachment).error()));
  attachment_ = std::move(*attachment);
  return {};
}

// Perf uprobes take long to remove.
void BpfEngine::disarm() {
  if (mechanism_ == Mechanism::kUprobeMulti) attachment_.reset();
}

Result<void> BpfEngine::add_losses(model::Ledger& ledger) const {
  SJ_TRY(losses, programs_.losses());
  ledger.insert(ledger.end(), losses.begin(), losses.end());
  return {};
}

Result<void> BpfEngine::add_hits(std::vector<std::uint64_t>& hits) const {
  hits = programs_.hits();
  return {};
}

}  // namespace sojourn::capture
