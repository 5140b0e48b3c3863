// The threads of a program as JSON. Keys are stable; docs/threads.md lists them. Times are in
// nanoseconds.
#include <nlohmann/json.hpp>

#include "analysis/present/threads/thread_labels.h"
#include "analysis/present/threads/threads_content.h"
#include "analysis/threads/hand_offs.h"

namespace sojourn::present {

namespace {

using nlohmann::ordered_json;
using threads::ThreadSurvey;

ordered_json times(const statistics::Distribution& of) {
  return {{"count", of.count()},     {"mean", of.mean()},        {"p50", of.quantile(0.5)},
          {"p90", of.quantile(0.9)}, {"p99", of.quantile(0.99)}, {"max", of.max()}};
}

ordered_json call_of(const ThreadSurvey& survey, const threads::WaitChannel& channel) {
  return channel.number < 0
             ? ordered_json(nullptr)
             : ordered_json(survey.calls().name(static_cast<std::uint32_t>(channel.number)));
}

ordered_json threads_of(const ThreadSurvey& survey) {
  auto list = ordered_json::array();
  for (const auto& [tid, story] : survey.threads()) {
    if (!survey.is_selected(story)) continue;
    const threads::RoleGuess judged = threads::guess_role(story);
    ordered_json wakes;
    for (std::size_t cause = 0; cause < threads::kWakeCauses; ++cause)
      wakes[std::string(name(static_cast<threads::WakeCause>(cause)))] = story.wakes[cause];
    list.push_back({{"tid", tid},
                    {"pid", story.pid},
                    {"name", story.name},
                    {"role", name(judged.role)},
                    {"role_share", judged.share},
                    {"period_ns", judged.period_ns ? ordered_json(*judged.period_ns) : nullptr},
                    {"words", role_label(survey, tid)},
                    {"running_ns", story.running_ns},
                    {"runnable_ns", story.runnable_ns},
                    {"blocked_ns", story.blocked_ns},
                    {"unknown_ns", story.unknown_ns},
                    {"wakes", std::move(wakes)},
                    {"woken_to_running_ns", times(story.woken_ns)},
                    {"preempted_ns", times(story.preempted_ns)},
                    {"syscalls", story.calls},
                    {"empty_syscalls", story.empty_calls},
                    {"received", story.received},
                    {"sent", story.sent}});
  }
  return list;
}

ordered_json edges_of(const ThreadSurvey& survey) {
  auto list = ordered_json::array();
  for (const auto& [key, edge] : survey.edges())
    list.push_back({{"cause", name(key.cause)},
                    {"from_tid", key.by},
                    {"from", waker_label(survey, key)},
                    {"to_tid", key.tid},
                    {"to", survey.thread_name(key.tid)},
                    {"call", call_of(survey, key.channel)},
                    {"at", key.channel.at},
                    {"through", wait_channel_label(survey, key.tid, key.channel)},
                    {"count", edge.count},
                    {"waited_ns", edge.waited_ns},
                    {"woken_to_running_ns", times(edge.delay_ns)}});
  return list;
}

ordered_json hand_offs_of(const ThreadSurvey& survey) {
  auto list = ordered_json::array();
  for (const threads::HandOff& of : threads::hand_offs(survey))
    list.push_back({{"pid", of.futex.first},
                    {"futex", of.futex.second},
                    {"kind", of.kind},
                    {"woken_by", of.wakers},
                    {"waiting", of.waiters},
                    {"count", of.count},
                    {"woken_to_running_ns", times(of.delay_ns)}});
  return list;
}

ordered_json traffic_of(const ThreadSurvey& survey) {
  auto list = ordered_json::array();
  const threads::SyscallTable& calls = survey.calls();
  for (const auto& [key, traffic] : survey.traffic())
    list.push_back({{"tid", key.tid},
                    {"call", calls.name(key.number)},
                    {"descriptor", key.descriptor},
                    {"of", calls.descriptor(survey.threads().at(key.tid).pid, key.descriptor)},
                    {"calls", traffic.calls},
                    {"in_vain", traffic.empty},
                    {calls.counts_messages(key.number) ? "messages" : "bytes", traffic.amount}});
  return list;
}

ordered_json paths_of(const ThreadSurvey& survey) {
  auto list = ordered_json::array();
  for (const auto& [key, latency] : survey.paths())
    list.push_back({{"tids", key.tids},
                    {"words", path_label(survey, key)},
                    {"in", key.in},
                    {"out", key.out},
                    {"latency_ns", times(latency)}});
  return list;
}

ordered_json reactions_of(const ThreadSurvey& survey) {
  auto list = ordered_json::array();
  for (const auto& [key, since_woken] : survey.reactions())
    list.push_back({{"tid", key.tid},
                    {"thread", survey.thread_name(key.tid)},
                    {"point", survey.point_name(key.point)},
                    {"since_woken_ns", times(since_woken)}});
  return list;
}

}  // namespace

ordered_json threads_json(const ThreadsContent& content) {
  const ThreadSurvey& survey = content.survey;
  auto sent = ordered_json::array();
  for (const auto& [ends, count] : survey.loopback())
    sent.push_back({{"from_tid", ends.first}, {"to_tid", ends.second}, {"count", count}});
  return {{"duration_s", content.duration_s},
          {"knows_states", survey.knows_states()},
          {"knows_calls", survey.knows_calls()},
          {"threads", threads_of(survey)},
          {"edges", edges_of(survey)},
          {"hand_offs", hand_offs_of(survey)},
          {"sockets_and_timers", traffic_of(survey)},
          {"paths", paths_of(survey)},
          {"reactions", reactions_of(survey)},
          {"sent_to_each_other", std::move(sent)},
          {"left_out", survey.left_out()}};
}

}  // namespace sojourn::present
