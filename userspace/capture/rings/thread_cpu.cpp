#include "userspace/capture/rings/thread_cpu.h"

#include <cstddef>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "userspace/tracee/procfs.h"

namespace sojourn::capture {

namespace {

// Returns the fields behind the thread's name, which may contain any character.
std::vector<std::string_view> fields_of(std::string_view stat) {
  const auto name_end = stat.rfind(") ");
  if (name_end == std::string_view::npos) return {};
  std::string_view rest = stat.substr(name_end + 2);
  if (rest.ends_with('\n')) rest.remove_suffix(1);
  return tracee::split(rest, ' ');
}

std::optional<std::uint64_t> moves_in(std::string_view sched) {
  constexpr std::string_view kMoves = "\nse.nr_migrations";
  const auto line = sched.find(kMoves);
  if (line == std::string_view::npos) return std::nullopt;
  std::string_view rest = sched.substr(line + kMoves.size());
  rest = rest.substr(0, rest.find('\n'));
  const auto number = rest.find_first_not_of(" :");
  if (number == std::string_view::npos) return std::nullopt;
  return tracee::parse_number(rest.substr(number));
}

}  // namespace

std::optional<CpuLook> cpu_look(std::string_view stat, std::string_view sched) {
  // Fields 22 and 39 of the file; the result of fields_of() begins with field 3.
  constexpr std::size_t kStartTime = 19;
  constexpr std::size_t kProcessor = 36;
  const auto fields = fields_of(stat);
  if (fields.size() <= kProcessor) return std::nullopt;
  const auto born = tracee::parse_number(fields[kStartTime]);
  const auto cpu = tracee::parse_number(fields[kProcessor]);
  const auto moves = moves_in(sched);
  if (!born || !cpu || *cpu > INT32_MAX || !moves) return std::nullopt;
  return CpuLook{.cpu = static_cast<std::int32_t>(*cpu), .moves = *moves, .born = *born};
}

// Reads the CPU before the count of moves: if the count has not changed since an earlier look, the
// thread has been on this CPU ever since.
std::optional<CpuLook> look_at_cpu(pid_t pid, pid_t tid) {
  const std::string task = fmt::format("/proc/{}/task/{}/", pid, tid);
  const auto stat = tracee::read_whole(task + "stat");
  const auto sched = tracee::read_whole(task + "sched");
  if (!stat || !sched) return std::nullopt;
  return cpu_look(*stat, *sched);
}

}  // namespace sojourn::capture
