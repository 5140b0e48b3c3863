#include "userspace/capture/thread_names.h"

#include <filesystem>
#include <system_error>
#include <utility>

#include "userspace/target/procfs.h"

namespace sojourn::capture {

void ThreadNames::look(const target::Process& process, Look what, model::Context& into) {
  std::error_code gone;
  for (const auto& task : std::filesystem::directory_iterator(process.proc("task"), gone)) {
    const auto tid = target::parse_number(task.path().filename().string());
    if (!tid) continue;
    const auto id = static_cast<std::uint32_t>(*tid);
    if (what == Look::kNew && known_.contains(id)) continue;
    auto name = target::read_whole(task.path() / "comm");
    if (!name) continue;  // it has just ended
    if (name->ends_with('\n')) name->pop_back();
    const auto [known, is_new] = known_.try_emplace(id, *name);
    if (!is_new && std::exchange(known->second, *name) == *name) continue;
    into.names.push_back({.kind = model::NameKind::kThread,
                          .id = id,
                          .name = std::move(*name),
                          .pid = static_cast<std::uint64_t>(process.pid()),
                          .state = {}});
  }
}

}  // namespace sojourn::capture
