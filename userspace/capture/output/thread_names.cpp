#include "userspace/capture/output/thread_names.h"

#include <filesystem>
#include <system_error>
#include <utility>

#include "userspace/tracee/procfs.h"

namespace sojourn::capture {

bool ThreadNames::is_news(std::uint32_t tid, const std::string& name) {
  const auto [known, is_new] = known_.try_emplace(tid, name);
  const bool is_news = is_new || std::exchange(known->second, name) != name;
  changes_ += is_news ? 1 : 0;
  return is_news;
}

void ThreadNames::add(std::uint32_t tid, std::string name, std::uint64_t pid,
                      model::Context& into) {
  if (!is_news(tid, name)) return;
  into.names.push_back({.kind = model::NameKind::kThread,
                        .id = tid,
                        .name = std::move(name),
                        .pid = pid,
                        .state = {}});
}

void ThreadNames::look(const tracee::Process& process, Look what, model::Context& into) {
  const auto pid = static_cast<std::uint64_t>(process.pid());
  std::error_code gone;
  for (const auto& task : std::filesystem::directory_iterator(process.proc("task"), gone)) {
    const auto number = tracee::parse_number(task.path().filename().string());
    if (!number) continue;
    const auto tid = static_cast<std::uint32_t>(*number);
    if (what == Look::kNew && known_.contains(tid)) continue;
    auto name = tracee::read_whole(task.path() / "comm");
    if (!name) continue;  // the thread has just ended
    if (name->ends_with('\n')) name->pop_back();
    if (what != Look::kStates) {
      add(tid, std::move(*name), pid, into);
      continue;
    }
    const auto stat = tracee::read_whole(task.path() / "stat");
    if (!stat) continue;
    const auto parsed = tracee::parse_stat(*stat);
    is_news(tid, *name);
    into.names.push_back({.kind = model::NameKind::kThread,
                          .id = tid,
                          .name = std::move(*name),
                          .pid = pid,
                          .state = parsed ? std::string(1, parsed->state) : std::string()});
  }
}

}  // namespace sojourn::capture
