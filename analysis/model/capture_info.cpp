#include "analysis/model/capture_info.h"

#include <algorithm>
#include <iterator>
#include <utility>

namespace sojourn::model {

Pids pids_of(const std::vector<Target>& targets) {
  Pids pids;
  for (const Target& target : targets)
    pids.try_emplace(static_cast<std::uint64_t>(target.pid), target.since_ns);
  return pids;
}

namespace {

// A forged file's numbers must not ask for all memory.
constexpr std::uint32_t kMaxStreams = 1 << 20;

// The oldest recorded ancestor. A forged trace may have a circle of parents.
std::int32_t head_of_family(std::int32_t pid, const std::map<std::int32_t, const Target*>& by_pid) {
  for (std::size_t steps = by_pid.size(); steps > 0; --steps) {
    const auto found = by_pid.find(pid);
    if (found == by_pid.end() || !by_pid.contains(found->second->parent)) break;
    pid = found->second->parent;
  }
  return pid;
}

}  // namespace

std::vector<std::uint16_t> groups_of(const std::vector<Stream>& streams,
                                     const std::vector<Target>& targets) {
  std::map<std::int32_t, const Target*> by_pid;
  for (const Target& target : targets) by_pid.try_emplace(target.pid, &target);
  std::map<std::pair<std::string, std::string>, std::vector<std::int32_t>> heads;  // by program
  for (const auto& [pid, target] : by_pid)
    if (head_of_family(pid, by_pid) == pid) heads[{target->exe, target->build_id}].push_back(pid);

  std::map<std::int32_t, std::uint16_t> group_of_head;
  std::uint16_t next = 1;
  for (const auto& [program, pids] : heads)
    for (const std::int32_t pid : pids)
      group_of_head[pid] = pids.size() == 1 ? std::uint16_t{0} : next++;

  std::vector<std::uint16_t> groups;
  for (const Stream& stream : streams) {
    const auto group = group_of_head.find(head_of_family(stream.pid, by_pid));
    if (group == group_of_head.end() || group->second == 0 || stream.id > kMaxStreams) continue;
    if (groups.size() <= stream.id) groups.resize(stream.id + std::size_t{1});
    groups[stream.id] = group->second;
  }
  return groups;
}

std::size_t host_of(const std::vector<MergedHost>& hosts, std::uint32_t stream) {
  const auto next = std::ranges::upper_bound(hosts, stream, {}, &MergedHost::first_stream);
  return next == hosts.begin() ? 0 : static_cast<std::size_t>(next - hosts.begin()) - 1;
}

std::uint64_t time_error_ns(const std::vector<MergedHost>& hosts, StampOfHost one,
                            StampOfHost other) {
  if (one.host >= hosts.size() || other.host >= hosts.size()) return 0;
  if (one.host == other.host) return hosts[one.host].stamp_error_ns;
  std::uint64_t error_ns = 0;
  for (const StampOfHost& each : {one, other}) {
    const MergedHost& host = hosts[each.host];
    error_ns += host.stamp_error_ns;
    if (host.bounds.empty()) continue;
    const auto next = std::ranges::upper_bound(host.bounds, each.ts_ns, {}, &ClockBound::from_ns);
    error_ns += next == host.bounds.begin() ? next->error_ns : std::prev(next)->error_ns;
  }
  return error_ns;
}

std::string_view name(LossCause cause) {
  switch (cause) {
    case LossCause::kRingFull:
      return "ring full";
    case LossCause::kReserveRefused:
      return "reserve refused";
    case LossCause::kRecursionMissed:
      return "recursion missed";
    case LossCause::kFiltered:
      return "filtered";
    case LossCause::kNotArmed:
      return "not armed yet";
    case LossCause::kNoRing:
      return "no ring for the thread";
    case LossCause::kTargetGone:
      return "target gone";
    case LossCause::kWriterBehind:
      return "writer behind";
    case LossCause::kUnderWay:
      return "under way";
    case LossCause::kUnreadable:
      return "unreadable";
    case LossCause::kConnectionCut:
      return "connection cut";
    case LossCause::kStreamed:
      return "streamed";
  }
  return "unknown";
}

bool takes_sequence_number(LossCause cause) {
  switch (cause) {
    case LossCause::kRingFull:
    case LossCause::kReserveRefused:
    case LossCause::kWriterBehind:
    case LossCause::kUnderWay:
    case LossCause::kUnreadable:
    case LossCause::kConnectionCut:
    case LossCause::kStreamed:
      return true;
    default:
      return false;
  }
}

std::map<PointId, std::uint64_t> times_shed_ns(const Capture& capture) {
  std::map<PointId, std::uint64_t> times;
  for (const ShedSpan& span : capture.shed) {
    const std::uint64_t until_ns = span.until_ns == 0 ? capture.close_ns : span.until_ns;
    times[span.point] += std::max(until_ns, span.from_ns) - span.from_ns;
  }
  return times;
}

double longest_shed_share(const Capture& capture) {
  std::uint64_t longest = 0;
  for (const auto& [point, ns] : times_shed_ns(capture)) longest = std::max(longest, ns);
  if (capture.close_ns <= capture.open_ns) return 0;
  return std::min(
      1.0, static_cast<double>(longest) / static_cast<double>(capture.close_ns - capture.open_ns));
}

}  // namespace sojourn::model
