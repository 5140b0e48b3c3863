#include "userspace/capture/rings/ring_settle.h"

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <optional>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include "userspace/base/clock.h"
#include "userspace/target/procfs.h"

namespace sojourn::capture {

namespace {

constexpr std::uint64_t kPatienceNs = 1'000'000'000;

// What is waited for, one of two kinds.
struct Waiting {
  std::vector<std::pair<const RingModule*, UnfinishedHit>> hits;
  std::vector<std::pair<std::filesystem::path, std::uint64_t>> threads;  // and their times so far

  std::size_t size() const { return hits.size() + threads.size(); }
};

// The thread's time on processors, where it could be in the middle of something: of one that waits
// to run or was stopped. A thread that sleeps is inside the kernel, not inside of a hit.
std::optional<std::uint64_t> time_if_interrupted(const std::filesystem::path& task) {
  const auto text = target::read_whole(task / "stat");
  const auto stat = text ? target::parse_stat(*text) : fail("gone");
  if (!stat || !std::string_view("RTt").contains(stat->state)) return std::nullopt;
  const auto schedule = target::read_whole(task / "schedstat");
  if (!schedule) return std::nullopt;
  return target::parse_number(target::split(*schedule, ' ').front());
}

bool any_alive(std::span<const target::Process* const> processes) {
  return std::ranges::any_of(processes, [](const auto* process) { return process->alive(); });
}

void look(const target::Process& process, std::span<const std::unique_ptr<RingModule>> modules,
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
  for (const auto& task : std::filesystem::directory_iterator(process.proc("task"), gone))
    if (const auto time = time_if_interrupted(task.path()))
      waiting.threads.emplace_back(task.path(), *time);
}

}  // namespace

Result<void> settle_rings(std::span<const target::Process* const> processes,
                          std::span<const std::unique_ptr<RingModule>> modules,
                          const std::function<Result<void>()>& poll) {
  SJ_CHECK(poll());  // rings that were taken just now
  Waiting waiting;
  for (const target::Process* process : processes) look(*process, modules, waiting);
  const std::uint64_t patience = base::monotonic_ns() + kPatienceNs;
  while (waiting.size() != 0 && any_alive(processes) && base::monotonic_ns() < patience) {
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
    SJ_CHECK(poll());
    std::erase_if(waiting.hits, [](const auto& one) { return one.first->is_whole(one.second); });
    std::erase_if(waiting.threads, [](const auto& thread) {
      return time_if_interrupted(thread.first) != thread.second;
    });
  }
  return {};
}

}  // namespace sojourn::capture
