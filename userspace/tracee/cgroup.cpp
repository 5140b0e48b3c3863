#include "userspace/tracee/cgroup.h"

#include <algorithm>
#include <filesystem>
#include <utility>

#include "userspace/tracee/procfs.h"

namespace sojourn::tracee {

namespace {

constexpr std::string_view kList = "cgroup.procs";

bool is_cgroup(const std::filesystem::path& path) {
  std::error_code none;
  return std::filesystem::exists(path / kList, none);
}

// The mount points of cgroup file systems; version 2 first, which systems of today use.
std::vector<std::string> mounts() {
  std::vector<std::string> found;
  const auto text = read_whole("/proc/self/mounts");
  if (!text) return found;
  for (const std::string_view line : split(*text, '\n')) {
    const auto words = split(line, ' ');
    if (words.size() < 3) continue;
    if (words[2] == "cgroup2")
      found.insert(found.begin(), std::string(words[1]));
    else if (words[2] == "cgroup")
      found.emplace_back(words[1]);
  }
  return found;
}

// A threaded group has no list of processes: the group that it belongs to has them. A group that
// is just being removed has none either.
void add_processes(const std::filesystem::path& group, std::vector<pid_t>& pids) {
  const auto list = read_whole((group / kList).string());
  if (!list) return;
  for (const std::string_view line : split(*list, '\n'))
    // 0: a process outside of our PID namespace.
    if (const auto pid = parse_number(line); pid && *pid != 0)
      pids.push_back(static_cast<pid_t>(*pid));
}

}  // namespace

Result<Cgroup> Cgroup::open(const std::string& path) {
  if (is_cgroup(path)) {
    std::error_code none;
    const auto whole = std::filesystem::canonical(path, none);
    return Cgroup(none ? path : whole.string());
  }
  std::error_code none;
  if (std::filesystem::exists(path, none))
    return fail("{} is no cgroup: it has no {}", printable(path), kList);
  std::string_view below = path;
  while (below.starts_with('/')) below.remove_prefix(1);
  for (const std::string& mount : mounts())
    if (const auto candidate = std::filesystem::path(mount) / below;
        !below.empty() && is_cgroup(candidate))
      return Cgroup(candidate.string());
  return fail("no cgroup {}: `cat /proc/PID/cgroup` tells a process's", printable(path));
}

Result<std::vector<pid_t>> Cgroup::processes() const {
  std::error_code gone;
  if (!is_cgroup(path_)) return fail("the cgroup {} is gone", printable(path_));
  std::vector<pid_t> pids;
  add_processes(path_, pids);
  constexpr auto kSkip = std::filesystem::directory_options::skip_permission_denied;
  for (auto at = std::filesystem::recursive_directory_iterator(path_, kSkip, gone);
       !gone && at != std::filesystem::recursive_directory_iterator(); at.increment(gone)) {
    std::error_code vanished;
    if (at->is_directory(vanished)) add_processes(at->path(), pids);
  }
  std::ranges::sort(pids);
  const auto twice = std::ranges::unique(pids);
  pids.erase(twice.begin(), twice.end());
  return pids;
}

}  // namespace sojourn::tracee
