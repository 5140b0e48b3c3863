#include "userspace/capture/processes/process_exits.h"

#include <algorithm>
#include <utility>

#include <fmt/core.h>

#include "userspace/base/clock.h"
#include "userspace/base/count_text.h"

namespace sojourn::capture {

ProcessExits::ProcessExits(const Options& options, TracedProcesses& processes, SourceSet& sources,
                           CaptureRecord& record, CaptureOutput& output, ScriptLaunch& launch,
                           ProcessNews& news)
    : options_(&options),
      processes_(&processes),
      sources_(&sources),
      record_(&record),
      output_(&output),
      launch_(&launch),
      news_(&news) {}

void ProcessExits::add_pidfds(std::vector<pollfd>& watched) const {
  for (const auto& one : processes_->all())
    if (!one->has_ended())
      watched.push_back({.fd = one->process.pidfd(), .events = POLLIN, .revents = 0});
}

Result<void> ProcessExits::take(std::span<const pollfd> watched, const Listener& listener) {
  for (std::size_t index = 0; index < processes_->all().size();
       ++index) {  // more may be added meanwhile
    TracedProcess& process = *processes_->all()[index];
    const auto is_its = [&](const pollfd& one) { return one.fd == process.process.pidfd(); };
    const auto found = std::ranges::find_if(watched, is_its);
    if (process.has_ended() || found == watched.end() || found->revents == 0) continue;
    processes_->end(process);
    sources_->remove_process(process.process);
    SJ_TRY(goes_on, launch_->goes_on(listener));
    if (!processes_->any_alive() && !goes_on) {
      record_->end("target exit");
      return {};
    }
    process.about.until_ns = base::monotonic_ns();
    output_->sink().push(process.about);
    news_->say(listener, fmt::format("process {} has ended, {} left", process.process.title(),
                                     base::counted(processes_->alive(), "process")));
  }
  return {};
}

Result<void> ProcessExits::tick(const Listener&) {
  if (!options_->follow && !options_->cgroup) return {};
  bool any = false;
  for (const auto& one : processes_->all()) {
    if (one->phase != TracedProcess::Phase::kEnded || !processes_->any_alive()) continue;
    SJ_TRY(done, retire(*one));
    if (done) one->phase = TracedProcess::Phase::kRetired;
    any = any || done;
  }
  if (any) forget_retired();
  return {};
}

// Returns false if the sink is behind, so that no more can be taken.
Result<bool> ProcessExits::drain(EventEngine& engine) {
  for (bool more = true; more;) {
    if (!output_->sink().has_room()) return false;
    SJ_TRY(left, engine.poll());
    more = left;
  }
  return true;
}

// Takes the last hits of a process that has ended from its rings. False: they could not be taken
// yet.
Result<bool> ProcessExits::retire(TracedProcess& process) {
  for (const SourceEntry& one : sources_->entries()) {
    if (one.bpf == nullptr || one.process != &process) continue;
    SJ_TRY(drained, drain(*one.bpf));
    if (!drained) return false;
  }
  for (RingEngine* engine : sources_->rings()) {
    SJ_TRY(drained, drain(*engine));
    if (!drained) return false;
  }
  SJ_TRY(gone, sources_->take_bpf_of(process));
  for (SourceEntry& one : gone) destroyer_.destroy(std::move(one.source));
  return true;
}

// A process is kept while a source still refers to it, as a family's engine does to its first one.
void ProcessExits::forget_retired() {
  if (!options_->others.empty()) return;
  processes_->forget_if([this](const TracedProcess& one) {
    if (one.phase != TracedProcess::Phase::kRetired || &one == &processes_->first() ||
        sources_->has_engines_of(one) || one.code.finding.valid())
      return false;
    return std::ranges::all_of(sources_->rings(),
                               [&](RingEngine* engine) { return engine->forget(one.process); });
  });
}

}  // namespace sojourn::capture
