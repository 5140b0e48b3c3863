#include "userspace/tracee/real_time.h"

#include <algorithm>
#include <cstdint>
#include <functional>
#include <memory>
#include <thread>

#include <dirent.h>
#include <fmt/format.h>
#include <sched.h>

#include "userspace/tracee/procfs.h"

namespace sojourn::tracee {

namespace {

constexpr std::size_t kMaxThreads = 4096;
constexpr double kMuch = 0.5;
constexpr int kDeadline = 6;  // SCHED_DEADLINE, which not all headers have

struct EndListing {
  void operator()(DIR* listing) const { closedir(listing); }
};

std::vector<pid_t> threads_of(pid_t pid) {
  std::vector<pid_t> tids;
  const std::unique_ptr<DIR, EndListing> listing(
      opendir(fmt::format("/proc/{}/task", pid).c_str()));
  while (listing != nullptr) {
    const dirent* const one = readdir(listing.get());
    if (one == nullptr || tids.size() == kMaxThreads) break;
    if (const auto tid = parse_number(static_cast<const char*>(one->d_name)))
      tids.push_back(static_cast<pid_t>(*tid));
  }
  return tids;
}

std::vector<std::size_t> cpus_of(pid_t tid) {
  std::vector<std::size_t> cpus;
  cpu_set_t allowed;
  CPU_ZERO(&allowed);
  if (sched_getaffinity(tid, sizeof allowed, &allowed) != 0) return cpus;
  for (std::size_t cpu = 0; cpu < CPU_SETSIZE; ++cpu)
    if (CPU_ISSET(cpu, &allowed)) cpus.push_back(cpu);
  return cpus;
}

std::optional<RealTimeThread> real_time_thread(pid_t pid, pid_t tid) {
  constexpr int kWithoutFlag = ~SCHED_RESET_ON_FORK;
  const int policy = sched_getscheduler(tid);
  sched_param parameters{};
  if (policy < 0 || sched_getparam(tid, &parameters) != 0) return std::nullopt;
  const int plain = policy & kWithoutFlag;
  if (plain != SCHED_FIFO && plain != SCHED_RR && plain != kDeadline) return std::nullopt;
  const auto name = read_whole(fmt::format("/proc/{}/task/{}/comm", pid, tid));
  return RealTimeThread{.tid = tid,
                        .name = name ? printable(name->substr(0, name->find('\n'))) : "?",
                        .policy = plain,
                        .priority = parameters.sched_priority,
                        .cpus = cpus_of(tid)};
}

// The CPU time of all of the threads together.
std::uint64_t ran_ns(std::span<const RealTimeThread> threads) {
  std::uint64_t all = 0;
  for (const RealTimeThread& thread : threads)
    if (const auto text = read_whole(fmt::format("/proc/{}/schedstat", thread.tid)))
      all += parse_number(text->substr(0, text->find(' '))).value_or(0);
  return all;
}

}  // namespace

std::string RealTimeThread::title() const {
  if (policy == kDeadline) return fmt::format("{} (DEADLINE)", name);
  return fmt::format("{} ({} {})", name, policy == SCHED_RR ? "RR" : "FIFO", priority);
}

// A bipartite matching of CPUs with threads, by augmenting paths.
bool can_take_all(std::span<const std::size_t> cpus, std::span<const RealTimeThread> threads) {
  std::vector<std::optional<std::size_t>> taken(threads.size());  // by thread: which CPU it has
  std::vector<bool> is_asked;
  const std::function<bool(std::size_t)> take = [&](std::size_t cpu) {
    for (std::size_t at = 0; at < threads.size(); ++at) {
      if (is_asked[at] || std::ranges::find(threads[at].cpus, cpu) == threads[at].cpus.end())
        continue;
      is_asked[at] = true;
      if (taken[at] && !take(*taken[at])) continue;
      taken[at] = cpu;
      return true;
    }
    return false;
  };
  return !cpus.empty() && std::ranges::all_of(cpus, [&](std::size_t cpu) {
    is_asked.assign(threads.size(), false);
    return take(cpu);
  });
}

std::optional<Starvation> find_starvation(std::span<const pid_t> pids,
                                          std::chrono::milliseconds look) {
  Starvation found;
  for (const pid_t pid : pids)
    for (const pid_t tid : threads_of(pid))
      if (auto thread = real_time_thread(pid, tid)) found.threads.push_back(std::move(*thread));
  const std::vector<std::size_t> own = cpus_of(0);
  if (!can_take_all(own, found.threads)) return std::nullopt;
  found.cpus = own.size();
  const auto begin = std::chrono::steady_clock::now();
  const std::uint64_t before = ran_ns(found.threads);
  std::this_thread::sleep_for(look);
  const std::uint64_t after = ran_ns(found.threads);
  const auto took = std::chrono::steady_clock::now() - begin;
  found.share = static_cast<double>(after - std::min(before, after)) /
                (static_cast<double>(std::chrono::nanoseconds(took).count()) *
                 static_cast<double>(own.size()));
  if (found.share < kMuch) return std::nullopt;
  std::ranges::stable_sort(found.threads, std::ranges::greater(), &RealTimeThread::priority);
  return found;
}

}  // namespace sojourn::tracee
