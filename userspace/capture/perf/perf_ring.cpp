#include "userspace/capture/perf/perf_ring.h"

#include <unistd.h>

#include "userspace/base/fail_errno.h"

namespace sojourn::capture {

Result<PerfRing> PerfRing::map(const base::Fd& event, std::size_t bytes) {
  const auto page = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
  base::Mapping mapping(event.get(), page + bytes);
  if (!mapping) {
    if (errno == EPERM)
      return fail(
          "map a buffer of {} bytes for samples: more than this user may have "
          "(kernel.perf_event_mlock_kb)",
          bytes);
    return fail_errno("map a buffer of {} bytes for samples", bytes);
  }
  const PerfMemory memory = {reinterpret_cast<perf_event_mmap_page*>(mapping.data()),
                             {mapping.data() + page, bytes}};
  return PerfRing(std::move(mapping), memory);
}

}  // namespace sojourn::capture
