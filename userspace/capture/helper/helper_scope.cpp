#include "userspace/capture/helper/helper_scope.h"

#include <algorithm>
#include <cerrno>
#include <utility>

#include "userspace/tracee/procfs.h"

namespace sojourn::capture {

namespace {

struct Ids {
  pid_t parent = 0;
  uid_t user = 0;
};

std::optional<Ids> ids_of(const tracee::Process& process) {
  const auto status = tracee::read_whole(process.proc("status"));
  if (!status) return std::nullopt;
  const auto parent = tracee::parse_number(tracee::status_value(*status, "PPid").value_or(""));
  const auto users = tracee::split(tracee::status_value(*status, "Uid").value_or(""), '\t');
  const auto user = users.empty() ? std::nullopt : tracee::parse_number(users.front());
  if (!parent || !user) return std::nullopt;
  return Ids{.parent = static_cast<pid_t>(*parent), .user = static_cast<uid_t>(*user)};
}

std::unexpected<Error> refuse(std::string_view what) {
  errno = EPERM;
  return fail("{} is not this capture's", what);
}

}  // namespace

Result<HelperScope> HelperScope::take(Limits limits) {
  HelperScope scope(std::move(limits));
  scope.since_ns_ = UINT64_MAX;
  for (const pid_t pid : scope.limits_.processes) {
    auto process = tracee::Process::open(pid);
    if (!process) continue;  // the process has just ended
    if (const auto ids = ids_of(*process)) scope.users_.push_back(ids->user);
    scope.since_ns_ = std::min(scope.since_ns_, process->start_time_ns());
    scope.known_.push_back(std::move(*process));
  }
  return scope;
}

bool HelperScope::has_come(const tracee::Process& process) const {
  if (limits_.cgroup) {
    const auto pids = limits_.cgroup->processes();
    if (pids && std::ranges::binary_search(*pids, process.pid())) return true;
  }
  if (!limits_.with_children) return false;
  const auto ids = ids_of(process);
  if (!ids) return false;
  if (std::ranges::find(known_, ids->parent, &tracee::Process::pid) != known_.end()) return true;
  // The process's parent has ended. So it is recognised by its user, who must be a user of the
  // capture's first processes, and by being younger than these.
  return process.start_time_ns() >= since_ns_ &&
         std::ranges::find(users_, ids->user) != users_.end();
}

Result<const tracee::Process*> HelperScope::find(pid_t pid) {
  const auto is_it = [pid](const tracee::Process& one) { return one.pid() == pid; };
  const auto known = std::ranges::find_if(known_, is_it);
  if (known != known_.end() && known->alive()) return &*known;
  auto process = tracee::Process::open(pid);
  if (!process) {
    errno = ESRCH;
    return std::unexpected(std::move(process).error());
  }
  if (!has_come(*process)) return refuse(fmt::format("process {}", pid));
  if (known != known_.end()) known_.erase(known);  // its pid was reused
  std::erase_if(known_, [](const tracee::Process& one) { return !one.alive(); });
  known_.push_back(std::move(*process));
  return &known_.back();
}

Result<HelperScope::Place> HelperScope::find(std::string_view path) {
  constexpr std::string_view kProc = "/proc/";
  const std::size_t slash = path.find('/', kProc.size());
  if (!path.starts_with(kProc) || slash == std::string_view::npos || path.contains("/../") ||
      path.ends_with("/.."))
    return refuse(path);
  const auto pid = tracee::parse_number(path.substr(kProc.size(), slash - kProc.size()));
  if (!pid) return refuse(path);
  SJ_TRY(process, find(static_cast<pid_t>(*pid)));
  return Place{.process = process, .name = path.substr(slash + 1)};
}

}  // namespace sojourn::capture
