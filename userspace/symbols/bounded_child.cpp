#include "userspace/symbols/bounded_child.h"

#include <sys/resource.h>
#include <unistd.h>

#include "userspace/base/forked_child.h"
#include "userspace/tracee/procfs.h"

namespace sojourn::symbols {

namespace {

// Lower priority than the target's threads, but not the lowest, as a user waits for the answer.
constexpr int kPatient = 10;
constexpr rlim_t kMaxMemory = rlim_t{4} << 30;  // besides what this process has already

// "size resident ..." in pages
rlim_t address_space_bytes() {
  const auto text = tracee::read_whole("/proc/self/statm");
  const auto pages = text ? tracee::parse_number(text->substr(0, text->find(' '))) : std::nullopt;
  return pages.value_or(0) * static_cast<rlim_t>(sysconf(_SC_PAGESIZE));
}

// The parent limits the processor time as well. This limit works when the parent is gone.
void bound_this_process(std::chrono::milliseconds processor_time) {
  const rlim_t most = address_space_bytes() + kMaxMemory;
  const rlimit memory{most, most};
  const auto seconds = static_cast<rlim_t>(processor_time.count() / 1000 + 2);
  const rlimit time{seconds, seconds};
  const rlimit none{0, 0};
  setrlimit(RLIMIT_AS, &memory);
  setrlimit(RLIMIT_CPU, &time);
  setrlimit(RLIMIT_CORE, &none);
  setpriority(PRIO_PROCESS, 0, kPatient);
}

}  // namespace

Result<std::string> run_in_bounded_child(const std::function<std::string()>& work,
                                         std::size_t max_bytes,
                                         std::chrono::milliseconds processor_time) {
  const auto bounded = [&] {
    bound_this_process(processor_time);
    return work();
  };
  return base::text_from_child(bounded, max_bytes, {.processor_time = processor_time});
}

}  // namespace sojourn::symbols
