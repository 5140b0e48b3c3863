#include "userspace/capture/context/context_names.h"

#include <algorithm>
#include <array>
#include <cstdlib>
#include <filesystem>
#include <memory>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <seccomp.h>

#include "userspace/tracee/procfs.h"

namespace sojourn::capture {

namespace {

using model::ContextName;
using model::NameKind;

// The names of softirqs, by the kernel's numbers. Both are part of its interface (/proc/softirqs).
constexpr std::array<std::string_view, SJ_SOFTIRQS> kSoftirqs = {
    "HI", "TIMER", "NET_TX", "NET_RX", "BLOCK", "IRQ_POLL", "TASKLET", "SCHED", "HRTIMER", "RCU"};

constexpr std::array<std::string_view, SJ_VECTORS> kVectors = {
    "local timer", "reschedule", "function call", "single function call", "irq work"};

std::string_view trimmed(std::string_view text) {
  while (text.ends_with('\n') || text.ends_with(' ')) text.remove_suffix(1);
  return text;
}

void add_interrupts(model::Context& context) {
  for (std::size_t number = 0; number < kSoftirqs.size(); ++number)
    context.names.push_back({NameKind::kSoftirq, number, std::string(kSoftirqs[number]), 0, {}});
  for (std::size_t vector = 0; vector < kVectors.size(); ++vector)
    context.names.push_back(
        {NameKind::kIrq, SJ_VECTOR + vector, std::string(kVectors[vector]), 0, {}});
  std::error_code none;
  for (const auto& irq : std::filesystem::directory_iterator("/sys/kernel/irq", none)) {
    const auto number = tracee::parse_number(irq.path().filename().string());
    const auto actions = tracee::read_whole(irq.path() / "actions");
    if (number && actions && !trimmed(*actions).empty())
      context.names.push_back({NameKind::kIrq, *number, std::string(trimmed(*actions)), 0, {}});
  }
}

}  // namespace

std::string syscall_name(std::uint32_t number) {
  const auto free_text = [](char* text) { std::free(text); };
  const std::unique_ptr<char, decltype(free_text)> name(
      seccomp_syscall_resolve_num_arch(SCMP_ARCH_NATIVE, static_cast<int>(number)), free_text);
  return name ? std::string(name.get()) : fmt::format("syscall {}", number);
}

model::Context ContextNames::initial(const tracee::Process& process,
                                     const ContextPrograms& programs, ThreadNames& threads) {
  model::Context context;
  context.families = programs.states();
  if (programs.has(ContextFamily::kIrq)) add_interrupts(context);
  threads.look(process, ThreadNames::Look::kStates, context);
  return context;
}

model::Context ContextNames::news(ContextPrograms& programs, ThreadNames& threads) {
  model::Context context;
  programs.read_threads([&](std::uint32_t tid, const sj_thread_name& seen) {
    threads.add(tid, std::string(seen.comm, std::find(seen.comm, std::end(seen.comm), '\0')),
                seen.pid, context);
  });
  for (std::uint32_t number = 0; number < SJ_MAX_SYSCALLS; ++number) {
    if (syscalls_[number] || !programs.saw_syscall(number)) continue;
    syscalls_.set(number);
    context.names.push_back({NameKind::kSyscall, number, syscall_name(number), 0, {}});
  }
  return context;
}

}  // namespace sojourn::capture
