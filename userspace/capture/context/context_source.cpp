#include "userspace/capture/context/context_source.h"

#include <algorithm>
#include <iterator>
#include <ranges>
#include <utility>

#include "userspace/tracee/host.h"

namespace sojourn::capture {

namespace {

bool lists(const std::vector<ContextFamily>& families, ContextFamily family) {
  return std::ranges::find(families, family) != families.end();
}

}  // namespace

Result<std::unique_ptr<ContextSource>> ContextSource::create(const tracee::Process& process,
                                                             ContextOptions options) {
  if (!tracee::in_first_pid_namespace())
    return fail(
        "--context: run it outside of this container: the kernel's numbers of threads are not "
        "those "
        "of this PID namespace");
  SJ_TRY(programs, ContextPrograms::load(options.families, options.ring_bytes));
  std::unique_ptr<ContextSource> source(new ContextSource(std::move(options), std::move(programs)));
  SJ_CHECK(source->add_process(process));
  return source;
}

// Adds a process, before connect() or while the source runs.
Result<bool> ContextSource::add_process(const tracee::Process& process) {
  SJ_CHECK(programs_.add_target(process.pid()));
  processes_.push_back(&process);
  const std::size_t before = samplers_.size();
  open_sampler(process);
  if (output_ == nullptr) return true;
  model::Context known = names_.initial(process, programs_, output_->thread_names());
  known.families.clear();  // reported already
  output_->sink().push(std::move(known));
  if (samplers_.size() == before) return true;
  SocketSampler& sampler = samplers_.back();
  SJ_CHECK(sampler.connect(*output_));
  sampler.open_at(open_ns_);
  sampler.close_at(close_ns_);
  look_at_sockets(sampler, true);
  return true;
}

void ContextSource::remove_process(const tracee::Process& process) {
  programs_.remove_target(process.pid());
  std::erase(processes_, &process);
}

void ContextSource::open_sampler(const tracee::Process& process) {
  if (!lists(options_.families, ContextFamily::kSockets)) return;
  auto sampler = SocketSampler::open(process);
  if (sampler)
    samplers_.push_back(std::move(*sampler));
  else
    why_not_sampled_ = sampler.error().text();
}

Result<void> ContextSource::connect(CaptureOutput& output) {
  output_ = &output;
  PointOfKind points{};
  for (const ContextFamily family : options_.families) {
    if (!programs_.has(family)) continue;
    for (const sj_context_kind kind : kinds_of(family)) {
      SJ_TRY(id, output.add_point(point_of(kind)));
      points[kind] = id;
    }
  }
  programs_.set_points(points);
  for (std::size_t cpu = 0; cpu < programs_.rings().size(); ++cpu) {
    const std::uint32_t id = output.new_stream(
        {.engine = model::Engine::kKernel, .cpu = static_cast<std::int32_t>(cpu), .tid = -1});
    if (cpu == 0) first_stream_ = id;
  }
  drain_.emplace(programs_.rings(), output.sink(), first_stream_);
  for (SocketSampler& sampler : samplers_) SJ_CHECK(sampler.connect(output));
  return {};
}

Result<void> ContextSource::arm() {
  programs_.attach();
  model::Context known = names_.initial(*processes_.front(), programs_, output_->thread_names());
  for (const tracee::Process* process : processes_ | std::views::drop(1)) {
    model::Context more = names_.initial(*process, programs_, output_->thread_names());
    std::ranges::move(more.names, std::back_inserter(known.names));
  }
  if (lists(options_.families, ContextFamily::kSockets))
    known.families.push_back({.name = "socket depths", .missing = why_not_sampled_});
  if (options_.tell) std::ranges::for_each(known.families, options_.tell);
  output_->sink().push(std::move(known));
  look_at_sockets(true);  // so that drops at existing sockets count from the open mark on
  look_at_descriptors();
  return {};
}

void ContextSource::open_at(std::uint64_t monotonic_ns) {
  programs_.open_gate_at(monotonic_ns);
  open_ns_ = monotonic_ns;
  for (SocketSampler& sampler : samplers_) sampler.open_at(monotonic_ns);
}

Result<void> ContextSource::start_over() {
  open_ns_ = UINT64_MAX;
  for (SocketSampler& sampler : samplers_) sampler.open_at(open_ns_);
  return programs_.start_over();
}

void ContextSource::close_at(std::uint64_t monotonic_ns) {
  programs_.close_gate_at(monotonic_ns);
  close_ns_ = monotonic_ns;
  for (SocketSampler& sampler : samplers_) sampler.close_at(monotonic_ns);
}

Result<void> ContextSource::settle() {
  return programs_.wait_for_running();
}

// Looks up descriptors, which system calls refer to by number.
void ContextSource::look_at_descriptors() {
  if (!programs_.has(ContextFamily::kSyscalls)) return;
  if (model::Context news = descriptors_.news(processes_); !news.empty())
    output_->sink().push(std::move(news));
}

// Samples sockets. If the target has just ended this fails, which does not end the capture.
void ContextSource::look_at_sockets(bool in_any_case) {
  for (SocketSampler& sampler : samplers_) look_at_sockets(sampler, in_any_case);
}

void ContextSource::look_at_sockets(SocketSampler& sampler, bool in_any_case) {
  const auto fresh = sampler.look(in_any_case);
  if (!fresh || fresh->empty()) return;
  model::Context names;
  for (const SocketState& socket : *fresh) {
    descriptors_.name_socket(socket.inode, socket.name);
    if (!programs_.add_socket(socket.cookie)) continue;
    names.names.push_back({.kind = model::NameKind::kSocket,
                           .id = socket.cookie,
                           .name = socket.name,
                           .pid = 0,
                           .state = {}});
  }
  output_->sink().push(std::move(names));
}

Result<bool> ContextSource::poll() {
  look_at_sockets(false);
  return drain_->poll();
}

void ContextSource::flush() {
  drain_->flush();
  look_at_descriptors();
  for (SocketSampler& sampler : samplers_) sampler.flush();
  if (model::Context news = names_.news(programs_, output_->thread_names()); !news.empty())
    output_->sink().push(std::move(news));
}

std::uint64_t ContextSource::events() const {
  std::uint64_t events = drain_->events();
  for (const SocketSampler& sampler : samplers_) events += sampler.events();
  return events;
}

Result<void> ContextSource::add_losses(model::Ledger& ledger) const {
  SJ_TRY(losses, programs_.losses(first_stream_));
  ledger.insert(ledger.end(), losses.begin(), losses.end());
  return {};
}

Result<void> ContextSource::add_hits(std::vector<std::uint64_t>& hits) const {
  const auto put = [&](std::size_t stream, std::uint64_t count) {
    hits.resize(std::max(hits.size(), stream + 1));
    hits[stream] = count;
  };
  const std::vector<std::uint64_t> own = programs_.hits();
  for (std::size_t cpu = 0; cpu < own.size(); ++cpu) put(first_stream_ + cpu, own[cpu]);
  for (const SocketSampler& sampler : samplers_) put(sampler.stream(), sampler.events());
  return {};
}

}  // namespace sojourn::capture
