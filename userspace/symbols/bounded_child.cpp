#include "userspace/symbols/bounded_child.h"

#include <sys/resource.h>
#include <unistd.h>

#include "userspace/base/own_child.h"
#include "userspace/target/procfs.h"

namespace sojourn::symbols {

namespace {

// Behind the target's threads, but somebody waits for the answer.
constexpr int kPatient = 10;
constexpr rlim_t kMostMemory = rlim_t{4} << 30;  // besides what this process has already

// "size resident ..." in pages
rlim_t address_space_bytes() {
  const auto text = target::read_whole("/proc/self/statm");
  const auto pages = text ? target::parse_number(text->substr(0, text->find(' '))) : std::nullopt;
  return pages.value_or(0) * static_cast<rlim_t>(sysconf(_SC_PAGESIZE));
}

void bound_this_process(std::chrono::milliseconds patience) {
  const rlim_t most = address_space_bytes() + kMostMemory;
  const rlimit memory{most, most};
  const auto seconds = static_cast<rlim_t>(patience.count() / 1000 + 1);
  const rlimit time{seconds, seconds};
  const rlimit none{0, 0};
  setrlimit(RLIMIT_AS, &memory);
  setrlimit(RLIMIT_CPU, &time);
  setrlimit(RLIMIT_CORE, &none);
  setpriority(PRIO_PROCESS, 0, kPatient);
}

}  // namespace

Result<std::string> answer_apart(const std::function<std::string()>& work, std::size_t most_bytes,
                                 std::chrono::milliseconds patience) {
  const auto bounded = [&] {
    bound_this_process(patience);
    return work();
  };
  return base::text_from_own_child(bounded, most_bytes, patience);
}

}  // namespace sojourn::symbols
