#include "userspace/capture/helper_monitor.h"

#include <algorithm>
#include <utility>

#include "userspace/base/clock.h"
#include "userspace/base/privileged_helper.h"

namespace sojourn::capture {

namespace {

constexpr std::uint64_t kHelperPeriodNs = 1'000'000'000;

}  // namespace

void HelperMonitor::on_open(std::uint64_t open_ns) {
  next_ns_ = open_ns + kHelperPeriodNs;
}

Result<void> HelperMonitor::tick(const Listener& listener) {
  const std::uint64_t now_ns = base::monotonic_ns();
  if (now_ns < next_ns_) return {};
  next_ns_ += kHelperPeriodNs;
  if (!std::ranges::all_of(sources_->bpf(), &BpfEngine::holds_probes)) {
    // The span ends at the close mark, which is at most this far ahead.
    record_->note_unarmed({.pid = 0,
                           .point = model::kNoPoint,
                           .from_ns = std::max(record_->open_ns(), probes_seen_ns_),
                           .until_ns = now_ns + kHelperPeriodNs / 4});
    return fail("the process that holds the probes was killed");
  }
  probes_seen_ns_ = now_ns;
  const base::PrivilegedHelper* const helper = base::PrivilegedHelper::of_this_process();
  if (helper != nullptr && !helper->is_alive() && !std::exchange(has_said_no_helper_, true))
    listener.say(
        "the process that keeps the rights was killed: libraries, children and processes that come "
        "from now on are not recorded");
  return {};
}

}  // namespace sojourn::capture
