#include "userspace/capture/perf/perf_events.h"

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <system_error>
#include <thread>
#include <utility>

#include <linux/membarrier.h>
#include <linux/perf_event.h>
#include <sys/ioctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "userspace/base/fail_errno.h"
#include "userspace/tracee/procfs.h"

namespace sojourn::capture {

namespace {

// Threads that appear while others are opened are opened as well. A thread inherits the events of
// the thread that made it, so two rounds suffice, unless threads come faster than they are read.
constexpr int kMaxRounds = 16;

std::vector<std::uint32_t> threads_of(const tracee::Process& process) {
  std::vector<std::uint32_t> tids;
  std::error_code gone;
  for (const auto& task : std::filesystem::directory_iterator(process.proc("task"), gone))
    if (const auto tid = tracee::parse_number(task.path().filename().string()))
      tids.push_back(static_cast<std::uint32_t>(*tid));
  return tids;
}

// Raises the limit of descriptors: there are threads times CPUs times kinds of events.
void lift_descriptor_limit() {
  rlimit limit{};
  if (getrlimit(RLIMIT_NOFILE, &limit) != 0 || limit.rlim_cur == limit.rlim_max) return;
  limit.rlim_cur = limit.rlim_max;
  setrlimit(RLIMIT_NOFILE, &limit);
}

}  // namespace

Error PerfEvents::explain(int code, std::size_t events) const {
  if (code == EACCES || code == EPERM) return process_->explain(process_->no_rights());
  if (code == EMFILE || code == ENFILE)
    return Error(fmt::format(
        "more than {} perf events, one for each thread, CPU and counter, need more descriptors "
        "than this process may have: raise `ulimit -n`, or ask for fewer counters",
        events));
  return Error(fmt::format("open a perf event of process {}: {}", process_->title(),
                           std::generic_category().message(code)));
}

Result<PerfEvents> PerfEvents::open(const tracee::Process& process,
                                    std::span<const PerfRequest> kinds, std::size_t ring_bytes) {
  lift_descriptor_limit();
  PerfEvents events(process);
  events.kinds_ = kinds.size();
  SJ_CHECK(events.open_threads(kinds, ring_bytes));
  return events;
}

Result<void> PerfEvents::open_threads(std::span<const PerfRequest> kinds, std::size_t ring_bytes) {
  bool has_news = true;
  for (int round = 0; has_news && round < kMaxRounds; ++round) {
    has_news = false;
    for (const std::uint32_t tid : threads_of(*process_)) {
      if (opened_.contains(tid)) continue;
      SJ_TRY(is_there, open_thread(tid, kinds, ring_bytes));
      if (is_there) opened_.insert(tid);
      has_news |= is_there;
    }
  }
  if (events_.empty())
    return std::unexpected(process_->explain(
        Error(fmt::format("process {} has no thread that can be looked at", process_->title()))));
  return {};
}

// False: the thread has ended.
Result<bool> PerfEvents::open_thread(std::uint32_t tid, std::span<const PerfRequest> kinds,
                                     std::size_t ring_bytes) {
  const auto cpus = static_cast<int>(sysconf(_SC_NPROCESSORS_CONF));
  for (int cpu = 0; cpu < cpus; ++cpu)
    for (std::size_t kind = 0; kind < kinds.size(); ++kind) {
      base::Fd event = open_perf_event(kinds[kind], static_cast<pid_t>(tid), cpu);
      const int code = errno;
      if (event) {
        SJ_CHECK(add(std::move(event), cpu, kind, tid, ring_bytes));
        continue;
      }
      if (code == ESRCH) return false;
      if (code == ENODEV) break;  // the CPU is offline
      return std::unexpected(explain(code, events_.size()));
    }
  return true;
}

Result<void> PerfEvents::add(base::Fd event, int cpu, std::size_t kind, std::uint32_t tid,
                             std::size_t ring_bytes) {
  auto place = std::ranges::find(cpus_, cpu, &Cpu::number);
  const auto index = static_cast<std::size_t>(place - cpus_.begin());
  if (place == cpus_.end()) {
    SJ_TRY(ring, PerfRing::map(event, ring_bytes));
    cpus_.push_back({cpu, std::move(ring)});
    anchors_.push_back(events_.size());
  } else if (ioctl(event.get(), PERF_EVENT_IOC_SET_OUTPUT, events_[anchors_[index]].fd.get()) !=
             0) {
    return fail_errno("join the perf events of CPU {}", cpu);
  }
  std::uint64_t id = 0;
  if (ioctl(event.get(), PERF_EVENT_IOC_ID, &id) != 0) return fail_errno("name a perf event");
  owners_[id] = {kind, tid};
  events_.push_back({std::move(event), index, kind});
  return {};
}

// A thread that was made while its maker was being opened has the maker's events and events of its
// own: then only its own count.
PerfEvents::Kind PerfEvents::kind_of(const PerfSample& sample) const {
  const auto owner = owners_.find(sample.event);
  if (owner == owners_.end() || sample.pid != static_cast<std::uint32_t>(process_->pid()))
    return {};
  if (owner->second.tid != sample.tid && opened_.contains(sample.tid)) return {};
  return {owner->second.kind, true};
}

void PerfEvents::stop() {
  for (const Event& event : events_) ioctl(event.fd.get(), PERF_EVENT_IOC_DISABLE, 0);
  // A sample that was being written when its event was disabled is complete once every CPU has
  // passed the kernel's scheduler. If membarrier is not available, a short sleep is far longer than
  // that.
  if (syscall(SYS_membarrier, MEMBARRIER_CMD_GLOBAL, 0, 0) != 0)
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
}

std::vector<std::vector<std::uint64_t>> PerfEvents::lost() const {
  std::vector lost(cpus_.size(), std::vector<std::uint64_t>(kinds_));
  for (const Event& event : events_) {
    PerfCount count;
    if (!read_perf_count(event.fd, count)) return {};
    lost[event.cpu][event.kind] += count.lost;
  }
  return lost;
}

void PerfEvents::close() {
  events_.clear();
}

}  // namespace sojourn::capture
