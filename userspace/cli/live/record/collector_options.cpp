#include "userspace/cli/live/record/collector_options.h"

#include <charconv>
#include <string_view>

#include <sched.h>
#include <sys/resource.h>

#include "userspace/base/fail_errno.h"
#include "userspace/cli/checks.h"

namespace sojourn::cli {

namespace {

constexpr std::string_view kRealTime = "rt:";
constexpr int kPatient = 5;

std::optional<int> parse_between(std::string_view text, int least, int most) {
  int number = 0;
  const auto [rest, code] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (code != std::errc() || rest != text.data() + text.size()) return std::nullopt;
  return number >= least && number <= most ? std::optional(number) : std::nullopt;
}

std::optional<int> parse_nice(std::string_view text) {
  return parse_between(text, -20, 19);
}

std::optional<int> parse_real_time(std::string_view text) {
  if (!text.starts_with(kRealTime)) return std::nullopt;
  return parse_between(text.substr(kRealTime.size()), 1, 99);
}

}  // namespace

void CollectorOptions::define(Arguments& arguments) {
  arguments
      .add_option("--collector-cpu", cpu_, "The CPU on which sojourn itself runs; default: any")
      .type_name("CPU")
      .check(whole_number(0, CPU_SETSIZE - 1));
  arguments
      .add_option("--collector-priority", priority_,
                  "Priority of sojourn itself: a nice value from -20 to 19, or rt:1 to rt:99 "
                  "(SCHED_FIFO) where real-time threads would starve it; default: nice 5, so that "
                  "the target's threads go first; where its real-time threads can take all CPUs, "
                  "SCHED_DEADLINE for a tenth of a CPU")
      .check([](const std::string& text) {
        return parse_nice(text) || parse_real_time(text)
                   ? ""
                   : "a nice value from -20 to 19, or rt:1 to rt:99, is wanted";
      })
      .type_name("PRIORITY");
}

Result<void> CollectorOptions::apply() const {
  if (cpu_) {
    cpu_set_t cpus;
    CPU_ZERO(&cpus);
    if (*cpu_ < CPU_SETSIZE) CPU_SET(*cpu_, &cpus);
    if (sched_setaffinity(0, sizeof(cpus), &cpus) != 0)
      return fail_errno("--collector-cpu {}: run there", *cpu_);
  }
  if (const auto real_time = parse_real_time(priority_)) {
    const sched_param parameters{.sched_priority = *real_time};
    if (sched_setscheduler(0, SCHED_FIFO, &parameters) != 0)
      return fail_errno("--collector-priority {}: become a real-time process", priority_);
    return {};
  }
  const auto nice = parse_nice(priority_);
  // A lower priority that this process was started with is kept.
  if (!nice && getpriority(PRIO_PROCESS, 0) >= kPatient) return {};
  if (setpriority(PRIO_PROCESS, 0, nice.value_or(kPatient)) != 0)
    return fail_errno("--collector-priority {}: become as urgent", priority_);
  return {};
}

}  // namespace sojourn::cli
