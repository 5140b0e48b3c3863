#include "analysis/causes/context_name_table.h"

#include <fmt/format.h>

namespace sojourn::causes {

using model::NameKind;

// The newest name counts, as numbers are reused.
ContextNameTable::ContextNameTable(const model::Context& context) {
  for (const model::ContextName& name : context.names)
    if (!name.name.empty()) names_[{name.kind, name.id}] = name.name;
}

std::string_view ContextNameTable::find(NameKind kind, std::uint64_t id) const {
  const auto found = names_.find({kind, id});
  return found == names_.end() ? std::string_view() : std::string_view(found->second);
}

std::string_view ContextNameTable::known(std::uint32_t tid) const {
  return find(NameKind::kThread, tid);
}

std::string ContextNameTable::thread(std::uint32_t tid) const {
  if (tid == 0) return "the idle CPU";
  const std::string_view name = known(tid);
  return name.empty() ? fmt::format("thread {}", tid) : std::string(name);
}

std::string ContextNameTable::other(std::uint32_t tid, std::uint32_t than) const {
  std::string name = thread(tid);
  return tid != than && name == thread(than) ? fmt::format("another {} ({})", name, tid) : name;
}

std::string ContextNameTable::syscall(std::int64_t number) const {
  if (number < 0) return "";
  const std::string_view name = find(NameKind::kSyscall, static_cast<std::uint64_t>(number));
  return name.empty() ? fmt::format("system call {}", number) : std::string(name);
}

std::string ContextNameTable::interrupt(std::int64_t number, bool is_softirq) const {
  if (number < 0) return "an interrupt";
  const auto kind = is_softirq ? NameKind::kSoftirq : NameKind::kIrq;
  const std::string_view name = find(kind, static_cast<std::uint64_t>(number));
  if (!name.empty()) return std::string(name);
  return fmt::format("{} {}", is_softirq ? "softirq" : "interrupt", number);
}

}  // namespace sojourn::causes
