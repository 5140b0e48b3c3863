#include "userspace/capture/rings/thread_position.h"

#include <string>
#include <string_view>
#include <utility>

#include <fmt/core.h>

#include "userspace/base/privileged_helper.h"
#include "userspace/tracee/procfs.h"

namespace sojourn::capture {

namespace {

// The instruction is the last word; "running" has none.
std::uint64_t instruction_in(std::string_view text) {
  while (text.ends_with('\n')) text.remove_suffix(1);
  const auto words = tracee::split(text, ' ');
  constexpr std::string_view kHex = "0x";
  if (words.size() < 3 || !words.back().starts_with(kHex)) return 0;
  return tracee::parse_number(words.back().substr(kHex.size()), 16).value_or(0);
}

// Asks the privileged helper, if this process has no rights.
std::uint64_t ask_instruction(pid_t pid, pid_t tid) {
  if (const auto own = next_instruction(pid, tid)) return *own;
  const auto* const helper = base::PrivilegedHelper::of_this_process();
  if (helper == nullptr) return 0;
  base::Packer wanted;
  wanted.put(pid).put(tid);
  const auto answer = helper->ask(base::PrivilegedRequest::kInstruction, std::move(wanted));
  return answer ? base::Unpacker(answer->bytes).take<std::uint64_t>() : 0;
}

}  // namespace

Result<std::uint64_t> next_instruction(pid_t pid, pid_t tid) {
  SJ_TRY(text, tracee::read_whole(fmt::format("/proc/{}/task/{}/syscall", pid, tid)));
  return instruction_in(text);
}

std::optional<ThreadPosition> position_of_thread(pid_t pid, pid_t tid) {
  const std::string task = fmt::format("/proc/{}/task/{}/", pid, tid);
  const auto text = tracee::read_whole(task + "stat");
  const auto stat = text ? tracee::parse_stat(*text) : fail("gone");
  if (!stat || !std::string_view("RTt").contains(stat->state)) return std::nullopt;
  const auto schedule = tracee::read_whole(task + "schedstat");
  if (!schedule) return std::nullopt;
  const auto run_ns = tracee::parse_number(tracee::split(*schedule, ' ').front());
  if (!run_ns) return std::nullopt;
  return ThreadPosition{.run_ns = *run_ns,
                        .instruction = stat->is_stopped() ? ask_instruction(pid, tid) : 0};
}

}  // namespace sojourn::capture
