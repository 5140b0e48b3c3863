#include "userspace/capture/rings/ring_threads.h"

#include <filesystem>
#include <optional>
#include <system_error>

#include "userspace/tracee/procfs.h"

namespace sojourn::capture {

namespace {

using tracee::parse_number;

// "NSpid: 4242 17 3": the innermost namespace comes last.
std::optional<std::uint64_t> innermost_tid(const std::filesystem::path& task) {
  const auto status = tracee::read_whole(task / "status");
  if (!status) return std::nullopt;
  const std::string_view numbers = tracee::status_value(*status, "NSpid").value_or("");
  const auto before = numbers.find_last_of("\t ");
  return parse_number(before == std::string_view::npos ? numbers : numbers.substr(before + 1));
}

}  // namespace

const RingThreads::Tasks& RingThreads::tasks_of(std::uint32_t pid) {
  const auto [entry, is_new] = tasks_.try_emplace(pid);
  Tasks& tasks = entry->second;
  if (!is_new) return tasks;
  const bool is_target = pid == static_cast<std::uint32_t>(process_->namespace_pid());
  // A forked child in another namespace is not looked for: its rings stay taken.
  const auto directory = is_target ? process_->proc("task") : fmt::format("/proc/{}/task", pid);
  if (is_target && !process_->alive()) return tasks;
  tasks.are_known = read_tasks(directory, tasks);
  return tasks;
}

// False: they could not be read although they are there, for want of descriptors or memory.
bool RingThreads::read_tasks(const std::string& directory, Tasks& tasks) {
  std::error_code failed;
  std::filesystem::directory_iterator task(directory, failed);
  for (; !failed && task != std::filesystem::directory_iterator(); task.increment(failed)) {
    const auto tid = parse_number(task->path().filename().string());
    const auto inner = is_translated() ? innermost_tid(task->path()) : tid;
    std::error_code none;
    if (tid && !inner && std::filesystem::exists(task->path(), none)) return false;
    if (!tid || !inner) continue;
    tasks.tids.insert(static_cast<std::uint32_t>(*inner));
    if (is_translated())
      host_[static_cast<std::uint32_t>(*inner)] = static_cast<std::uint32_t>(*tid);
  }
  std::error_code none;
  return !failed || !std::filesystem::exists(directory, none);
}

std::uint32_t RingThreads::host_tid(std::uint32_t tid) {
  if (!is_translated()) return tid;
  if (!host_.contains(tid)) {
    refresh();
    tasks_of(static_cast<std::uint32_t>(process_->namespace_pid()));
  }
  const auto known = host_.find(tid);
  return known == host_.end() ? tid : known->second;
}

void RingThreads::refresh() {
  tasks_.clear();
}

bool RingThreads::is_alive(std::uint64_t owner) {
  const auto pid = static_cast<std::uint32_t>(owner >> 32);
  const bool is_target = pid == static_cast<std::uint32_t>(process_->namespace_pid());
  if (!is_target && is_translated()) return true;
  const Tasks& tasks = tasks_of(pid);
  return !tasks.are_known || tasks.tids.contains(static_cast<std::uint32_t>(owner));
}

}  // namespace sojourn::capture
