#include "analysis/threads/hand_offs.h"

#include <algorithm>
#include <functional>
#include <map>
#include <utility>

namespace sojourn::threads {

std::string_view kind_of(const ThreadSurvey& survey, const FutexKey& futex) {
  const auto known = survey.futexes().find(futex);
  if (known == survey.futexes().end()) return "futex";
  return known->second.is_lock() ? "lock" : known->second.is_queue() ? "queue" : "futex";
}

std::vector<HandOff> hand_offs(const ThreadSurvey& survey) {
  std::map<FutexKey, HandOff> by_futex;
  for (const auto& [key, edge] : survey.edges()) {
    if (key.cause != WakeCause::kThread || key.channel.number < 0 || key.channel.at == 0 ||
        survey.calls().kind(static_cast<std::uint32_t>(key.channel.number)) != SyscallKind::kFutex)
      continue;
    const auto waiter = survey.threads().find(key.tid);
    const FutexKey futex = {waiter == survey.threads().end() ? 0 : waiter->second.pid,
                            key.channel.at};
    HandOff& of = by_futex[futex];
    of.futex = futex;
    of.wakers.insert(key.by);
    of.waiters.insert(key.tid);
    of.count += edge.count;
    of.delay_ns.merge(edge.delay_ns);
  }
  std::vector<HandOff> all;
  for (auto& [futex, of] : by_futex) {
    of.kind = kind_of(survey, futex);
    all.push_back(std::move(of));
  }
  std::ranges::stable_sort(all, std::ranges::greater(), &HandOff::count);
  return all;
}

}  // namespace sojourn::threads
