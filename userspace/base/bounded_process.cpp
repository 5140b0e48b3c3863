#include "userspace/base/bounded_process.h"

#include <charconv>
#include <string_view>

#include <fcntl.h>
#include <sys/resource.h>
#include <unistd.h>

#include "userspace/base/fd.h"

namespace sojourn::base {

namespace {

// "size resident ..." in pages
rlim_t address_space_bytes() {
  const Fd statm(open("/proc/self/statm", O_RDONLY | O_CLOEXEC));
  char text[64];
  const ssize_t bytes = statm ? read(statm.get(), text, sizeof(text)) : 0;
  rlim_t pages = 0;
  if (bytes > 0) std::from_chars(text, text + bytes, pages);
  return pages * static_cast<rlim_t>(sysconf(_SC_PAGESIZE));
}

void limit(__rlimit_resource what, rlim_t most) {
  const rlimit both{most, most};
  setrlimit(what, &both);
}

}  // namespace

void bound_this_process(const Bounds& bounds) {
  limit(RLIMIT_AS, address_space_bytes() + bounds.more_memory_bytes);
  if (bounds.processor_time)
    limit(RLIMIT_CPU, static_cast<rlim_t>(bounds.processor_time->count() / 1000 + 2));
  limit(RLIMIT_CORE, 0);
  if (bounds.niceness != 0) setpriority(PRIO_PROCESS, 0, bounds.niceness);
}

}  // namespace sojourn::base
