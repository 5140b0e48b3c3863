#include "userspace/capture/perf/perf_open.h"

#include <cerrno>
#include <ctime>

#include <linux/perf_event.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "userspace/base/privileged_helper.h"
#include "userspace/capture/perf/perf_record.h"

namespace sojourn::capture {

namespace {

// In headers since Linux 6.0.
constexpr std::uint64_t kFormatLost = 1U << 4U;  // PERF_FORMAT_LOST

base::Fd open_event(perf_event_attr& attributes, pid_t tid, int cpu) {
  return base::Fd(static_cast<int>(
      syscall(SYS_perf_event_open, &attributes, tid, cpu, -1, PERF_FLAG_FD_CLOEXEC)));
}

}  // namespace

void pack(const PerfRequest& request, base::Packer& words) {
  words.put(request.type).put(request.config).put(request.period);
  words.put(request.user_only).put(request.has_stacks);
  words.put(request.with_threads).put(request.with_mappings);
}

PerfRequest unpack_perf_request(base::Unpacker& words) {
  PerfRequest request;
  request.type = words.take<std::uint32_t>();
  request.config = words.take<std::uint64_t>();
  request.period = words.take<std::uint64_t>();
  request.user_only = words.take<bool>();
  request.has_stacks = words.take<bool>();
  request.with_threads = words.take<bool>();
  request.with_mappings = words.take<bool>();
  return request;
}

base::Fd open_perf_event(const PerfRequest& request, pid_t tid, int cpu) {
  perf_event_attr attributes{};
  attributes.size = sizeof(attributes);
  attributes.type = request.type;
  attributes.config = request.config;
  attributes.sample_period = request.period;
  attributes.sample_type = kPerfSampleType | (request.has_stacks ? PERF_SAMPLE_CALLCHAIN : 0);
  attributes.read_format = kFormatLost;
  attributes.exclude_kernel = request.user_only;
  attributes.exclude_callchain_kernel = request.user_only;
  attributes.exclude_hv = request.user_only;
  attributes.use_clockid = 1;
  attributes.clockid = CLOCK_MONOTONIC;
  attributes.comm = request.with_threads;
  attributes.task = request.with_threads;
  attributes.mmap = request.with_mappings;
  if (cpu >= 0) {
    attributes.inherit = 1;
    attributes.inherit_thread = 1;  // not to forked children; since Linux 5.13
  }
  // The ring is polled by a timer, because a wakeup would cost the target time.
  attributes.watermark = 1;
  attributes.wakeup_watermark = UINT32_MAX;
  base::Fd event = open_event(attributes, tid, cpu);
  if (!event && errno == EINVAL) {
    attributes.read_format = 0;
    event = open_event(attributes, tid, cpu);
  }
  const bool lacks_rights = !event && (errno == EACCES || errno == EPERM);
  const auto* const helper = base::PrivilegedHelper::of_this_process();
  if (!lacks_rights || helper == nullptr) return event;
  base::Packer wanted;
  pack(request, wanted);
  wanted.put(tid).put(cpu);
  auto answer = helper->ask(base::PrivilegedRequest::kPerfEvent, std::move(wanted));
  if (!answer || answer->fds.size() != 1) return {};
  return std::move(answer->fds.front());
}

bool read_perf_count(const base::Fd& event, PerfCount& into) {
  PerfCount read;
  static_assert(sizeof(read) == 2 * sizeof(std::uint64_t));
  if (::read(event.get(), &read, sizeof(read)) != sizeof(read)) return false;
  into = read;
  return true;
}

}  // namespace sojourn::capture
