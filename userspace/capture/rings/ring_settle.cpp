#include "userspace/capture/rings/ring_settle.h"

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <thread>
#include <utility>
#include <vector>

#include "userspace/base/clock.h"
#include "userspace/capture/rings/thread_position.h"
#include "userspace/tracee/procfs.h"

namespace sojourn::capture {

namespace {

constexpr std::uint64_t kTimeoutNs = 1'000'000'000;
// The timeout for threads whose progress shows only in their CPU time: on a CPU without ticks that
// time stands still while they run.
constexpr std::uint64_t kPatienceForTimesNs = 250'000'000;

// The hits and threads that are waited for.
struct Waiting {
  struct Thread {
    pid_t pid = 0;
    pid_t tid = 0;
    ThreadPosition position;
  };
  std::vector<std::pair<const RingModule*, UnfinishedHit>> hits;
  std::vector<std::pair<const RingModule*, UnsureOwner>> owners;
  std::vector<Thread> threads;  // of processes whose memory may not be read

  bool is_over(std::uint64_t since_ns, std::uint64_t now_ns) const {
    const std::uint64_t waited = now_ns - since_ns;
    return waited >= kTimeoutNs ||
           (hits.empty() && threads.empty() && (owners.empty() || waited >= kPatienceForTimesNs));
  }
};

bool any_alive(std::span<const tracee::Process* const> processes) {
  return std::ranges::any_of(processes, [](const auto* process) { return process->alive(); });
}

void look(const tracee::Process& process, std::span<const std::unique_ptr<RingModule>> modules,
          Waiting& waiting) {
  if (!process.alive()) return;
  const std::size_t others = waiting.hits.size();
  bool readable = true;
  for (const auto& module : modules) {
    const auto unfinished =
        module->unfinished(static_cast<std::uint32_t>(process.namespace_pid()), process.pid());
    readable = readable && unfinished.has_value();
    if (!readable) break;
    for (const UnfinishedHit& hit : *unfinished) waiting.hits.emplace_back(module.get(), hit);
  }
  if (readable) return;
  waiting.hits.resize(others);
  std::error_code gone;
  for (const auto& task : std::filesystem::directory_iterator(process.proc("task"), gone)) {
    const auto tid =
        static_cast<pid_t>(tracee::parse_number(task.path().filename().string()).value_or(0));
    if (const auto position = position_of_thread(process.pid(), tid))
      waiting.threads.push_back({.pid = process.pid(), .tid = tid, .position = *position});
  }
}

}  // namespace

Result<void> settle_rings(std::span<const tracee::Process* const> processes,
                          std::span<const std::unique_ptr<RingModule>> modules,
                          const std::function<Result<void>()>& poll) {
  SJ_CHECK(poll());  // finds rings that were taken just now
  Waiting waiting;
  for (const tracee::Process* process : processes) look(*process, modules, waiting);
  for (const auto& module : modules)
    for (const UnsureOwner& owner : module->unsure_owners())
      waiting.owners.emplace_back(module.get(), owner);
  const std::uint64_t since = base::monotonic_ns();
  while (!waiting.is_over(since, base::monotonic_ns()) && any_alive(processes)) {
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
    SJ_CHECK(poll());
    std::erase_if(waiting.hits, [](const auto& one) { return one.first->is_whole(one.second); });
    std::erase_if(waiting.owners, [](const auto& one) { return one.first->has_moved(one.second); });
    std::erase_if(waiting.threads, [](const Waiting::Thread& thread) {
      return position_of_thread(thread.pid, thread.tid) != thread.position;
    });
  }
  return {};
}

}  // namespace sojourn::capture
