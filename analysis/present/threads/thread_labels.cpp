#include "analysis/present/threads/thread_labels.h"

#include <algorithm>
#include <iterator>
#include <map>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "analysis/present/words/text_format.h"
#include "analysis/threads/hand_offs.h"

namespace sojourn::present {

namespace {

using threads::ThreadRole;
using threads::ThreadSurvey;
using threads::WaitChannel;
using threads::WakeCause;
using threads::WakeupEdgeKey;

constexpr std::size_t kMaxNamed = 3;
constexpr double kWorthNaming = 0.05;  // of a thread's wakeups

std::string thread(const ThreadSurvey& survey, std::uint32_t tid) {
  return printable(survey.thread_name(tid));
}

// The place where the thread waited most often, among its waits that ended by these causes.
std::string main_wait_channel(const ThreadSurvey& survey, std::uint32_t tid,
                              const std::vector<WakeCause>& causes) {
  std::map<WaitChannel, std::uint64_t> counts;
  for (const auto& [key, edge] : survey.edges())
    if (key.tid == tid && std::ranges::find(causes, key.cause) != causes.end())
      counts[key.channel] += edge.count;
  const auto most = std::ranges::max_element(counts, {}, [](const auto& of) { return of.second; });
  if (most == counts.end() || most->first.number < 0) return {};
  return fmt::format(" ({})", wait_channel_label(survey, tid, most->first));
}

std::string woken_by(const ThreadSurvey& survey, std::uint32_t tid) {
  std::map<std::uint32_t, std::uint64_t> counts;
  std::uint64_t all = 0;
  for (const auto& [key, edge] : survey.edges()) {
    if (key.tid != tid) continue;
    all += edge.count;
    if (key.cause == WakeCause::kThread) counts[key.by] += edge.count;
  }
  std::vector<std::pair<std::uint32_t, std::uint64_t>> wakers(counts.begin(), counts.end());
  std::ranges::stable_sort(wakers, std::ranges::greater(),
                           [](const auto& of) { return of.second; });
  std::vector<std::string> words;
  for (const auto& [by, count] : wakers) {
    const double share = static_cast<double>(count) / static_cast<double>(all);
    if (words.size() == kMaxNamed || share < kWorthNaming) break;
    words.push_back(fmt::format("{} {:.0f} %", thread(survey, by), 100 * share));
  }
  return fmt::format("woken by {}", fmt::join(words, ", "));
}

std::string mixed(const threads::ThreadActivity& story) {
  std::vector<std::string> words;
  const auto all = static_cast<double>(story.all_wakes());
  for (std::size_t cause = 0; cause < threads::kWakeCauses; ++cause) {
    const double share = static_cast<double>(story.wakes[cause]) / all;
    if (share >= kWorthNaming)
      words.push_back(fmt::format("{} {:.0f} %", name(static_cast<WakeCause>(cause)), 100 * share));
  }
  return fmt::format("woken by {}", fmt::join(words, ", "));
}

std::string what_drives(const ThreadSurvey& survey, std::uint32_t tid,
                        const threads::ThreadActivity& story) {
  const threads::RoleGuess judged = threads::guess_role(story);
  const bool by_timer = story.wakes[static_cast<std::size_t>(WakeCause::kTimer)] >=
                        story.wakes[static_cast<std::size_t>(WakeCause::kInterrupt)];
  switch (judged.role) {
    case ThreadRole::kIdle:
      return story.running_ns == 0 ? "waits all the time" : "hardly ran, and was not woken";
    case ThreadRole::kPeriodic:
      return fmt::format(
          "every {} by {}{}", duration(static_cast<double>(*judged.period_ns)),
          by_timer ? "a timer" : "an interrupt",
          main_wait_channel(survey, tid, {WakeCause::kTimer, WakeCause::kInterrupt}));
    case ThreadRole::kTimed:
      return "now and then by a timer" + main_wait_channel(survey, tid, {WakeCause::kTimer});
    case ThreadRole::kSocket:
      return "by packets" + main_wait_channel(survey, tid, {WakeCause::kNetwork});
    case ThreadRole::kDriven:
      return woken_by(survey, tid);
    case ThreadRole::kDevice:
      return "by interrupts" + main_wait_channel(survey, tid, {WakeCause::kInterrupt});
    case ThreadRole::kPolling:
      return "polls: it looks for work all the time, by system calls";
    case ThreadRole::kBusy:
      return story.runnable_ns > story.running_ns
                 ? "wants a CPU all the time, and mostly waits for one"
                 : "runs all the time: it computes, or polls memory";
    case ThreadRole::kMixed:
      return mixed(story);
  }
  return {};
}

}  // namespace

std::string role_label(const ThreadSurvey& survey, std::uint32_t tid) {
  const auto found = survey.threads().find(tid);
  if (found == survey.threads().end()) return {};
  const threads::ThreadActivity& story = found->second;
  std::string words = what_drives(survey, tid, story);
  if (story.received != 0)
    words += story.sent != 0 ? "; receives and sends" : "; receives";
  else if (story.sent != 0)
    words += "; sends";
  return words;
}

std::string wait_channel_label(const ThreadSurvey& survey, std::uint32_t tid,
                               const WaitChannel& channel) {
  if (channel.number < 0) return survey.knows_calls() ? "no system call" : "-";
  const auto number = static_cast<std::uint32_t>(channel.number);
  const threads::SyscallTable& calls = survey.calls();
  std::string call = printable(calls.name(number));
  const auto found = survey.threads().find(tid);
  const std::uint64_t pid = found == survey.threads().end() ? 0 : found->second.pid;
  if (calls.kind(number) == threads::SyscallKind::kFutex) {
    if (channel.at == 0) return call;
    const std::string_view kind = threads::kind_of(survey, {pid, channel.at});
    return fmt::format("{} {:#x}", kind == "lock" ? kind : "futex", channel.at);
  }
  const threads::SyscallKind kind = calls.kind(number);
  if (!calls.has_descriptor(number) || kind == threads::SyscallKind::kPoll) return call;
  return fmt::format("{} {}", call, printable(calls.descriptor(pid, channel.at)));
}

std::string waker_label(const ThreadSurvey& survey, const WakeupEdgeKey& key) {
  return key.cause == WakeCause::kThread ? thread(survey, key.by) : std::string(name(key.cause));
}

std::string path_label(const ThreadSurvey& survey, const threads::PathKey& path) {
  std::vector<std::string> names;
  std::ranges::transform(path.tids, std::back_inserter(names),
                         [&](std::uint32_t tid) { return thread(survey, tid); });
  return fmt::format("{}", fmt::join(names, " -> "));
}

}  // namespace sojourn::present
