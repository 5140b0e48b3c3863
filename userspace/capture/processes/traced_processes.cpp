#include "userspace/capture/processes/traced_processes.h"

#include <algorithm>
#include <utility>

namespace sojourn::capture {

TracedProcess& TracedProcesses::add(Subject subject) {
  list_.push_back(std::make_unique<TracedProcess>(std::move(subject)));
  return *list_.back();
}

tracee::Process TracedProcesses::take_last() {
  tracee::Process process = std::move(list_.back()->process);
  list_.pop_back();
  return process;
}

Result<void> TracedProcesses::tell_joined(const TracedProcess& process) {
  for (ProcessObserver* observer : observers_) SJ_CHECK(observer->on_joined(process));
  return {};
}

void TracedProcesses::tell_new_points(const Listener& listener) {
  for (ProcessObserver* observer : observers_) observer->on_new_points(listener);
}

void TracedProcesses::end(TracedProcess& process) {
  process.phase = TracedProcess::Phase::kEnded;
  for (ProcessObserver* observer : observers_) observer->on_ended(process);
}

TracedProcess* TracedProcesses::find(pid_t pid) const {
  const auto found = std::ranges::find_if(
      list_, [&](const auto& one) { return !one->has_ended() && one->process.pid() == pid; });
  return found == list_.end() ? nullptr : found->get();
}

bool TracedProcesses::any_alive() const {
  return std::ranges::any_of(list_, [](const auto& one) { return !one->has_ended(); });
}

std::size_t TracedProcesses::alive() const {
  return static_cast<std::size_t>(
      std::ranges::count_if(list_, [](const auto& one) { return !one->has_ended(); }));
}

void TracedProcesses::begin_cpu_times() {
  for (const auto& one : list_) begin_cpu_time(*one);
}

void TracedProcesses::begin_cpu_time(TracedProcess& process) {
  process.cpu_first_ns = process.process.cpu_time_ns().value_or(0);
  process.cpu_last_ns = process.cpu_first_ns;
}

std::uint64_t TracedProcesses::cpu_ns_of(const TracedProcess& process) {
  return process.cpu_last_ns - std::min(process.cpu_first_ns, process.cpu_last_ns);
}

// The last reading counts for an exited process: its times are gone, and its pid may be reused.
std::uint64_t TracedProcesses::cpu_ns() {
  std::uint64_t sum = past_cpu_ns_;
  for (const auto& one : list_) {
    if (!one->has_ended() && one->process.alive())
      one->cpu_last_ns = one->process.cpu_time_ns().value_or(one->cpu_last_ns);
    sum += cpu_ns_of(*one);
  }
  return sum;
}

void TracedProcesses::name_threads(CaptureOutput& output, ThreadNames::Look what) const {
  model::Context found;
  for (const auto& one : list_)
    if (!one->has_ended()) output.thread_names().look(one->process, what, found);
  if (!found.empty()) output.sink().push(std::move(found));
}

}  // namespace sojourn::capture
