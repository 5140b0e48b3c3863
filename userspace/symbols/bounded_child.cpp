#include "userspace/symbols/bounded_child.h"

#include <cstdint>

#include "userspace/base/bounded_process.h"
#include "userspace/base/forked_child.h"

namespace sojourn::symbols {

namespace {

constexpr std::uint64_t kMaxMemory = std::uint64_t{4} << 30;
// Lower priority than the target's threads, but not the lowest, as a user waits for the answer.
constexpr int kPatient = 10;

}  // namespace

Result<std::string> run_in_bounded_child(const std::function<std::string()>& work,
                                         std::size_t max_bytes,
                                         std::chrono::milliseconds processor_time) {
  const auto bounded = [&] {
    base::bound_this_process(
        {.more_memory_bytes = kMaxMemory, .processor_time = processor_time, .niceness = kPatient});
    return work();
  };
  return base::text_from_child(bounded, max_bytes, {.processor_time = processor_time});
}

}  // namespace sojourn::symbols
