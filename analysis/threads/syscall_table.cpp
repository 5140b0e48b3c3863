#include "analysis/threads/syscall_table.h"

#include <algorithm>
#include <array>

#include <fmt/format.h>

namespace sojourn::threads {

namespace {

struct Word {
  std::string_view name;
  SyscallKind kind;
};

// The names of system calls on every architecture of Linux.
constexpr std::array kSyscallWords = {
    Word{"recvfrom", SyscallKind::kReceive},
    Word{"recvmsg", SyscallKind::kReceive},
    Word{"recvmmsg", SyscallKind::kReceive},
    Word{"sendto", SyscallKind::kSend},
    Word{"sendmsg", SyscallKind::kSend},
    Word{"sendmmsg", SyscallKind::kSend},
    Word{"read", SyscallKind::kRead},
    Word{"readv", SyscallKind::kRead},
    Word{"write", SyscallKind::kWrite},
    Word{"writev", SyscallKind::kWrite},
    Word{"epoll_wait", SyscallKind::kPoll},
    Word{"epoll_pwait", SyscallKind::kPoll},
    Word{"epoll_pwait2", SyscallKind::kPoll},
    Word{"poll", SyscallKind::kPoll},
    Word{"ppoll", SyscallKind::kPoll},
    Word{"select", SyscallKind::kPoll},
    Word{"pselect6", SyscallKind::kPoll},
    Word{"nanosleep", SyscallKind::kSleep},
    Word{"clock_nanosleep", SyscallKind::kSleep},
    Word{"futex", SyscallKind::kFutex},
    Word{"accept", SyscallKind::kConnect},
    Word{"accept4", SyscallKind::kConnect},
    Word{"connect", SyscallKind::kConnect},
    Word{"sched_yield", SyscallKind::kYield},
};

// The kernel's error numbers, which are part of its interface.
constexpr std::int64_t kTryAgain = -11;
constexpr std::int64_t kTimedOut = -110;

constexpr std::string_view kTimerDescriptor = "anon_inode:[timerfd]";

bool is_of_network(std::string_view descriptor) {
  constexpr std::array<std::string_view, 5> kBeginnings = {"udp ", "tcp ", "sctp ",
                                                           "socket:", "/dev/net/tun"};
  return std::ranges::any_of(kBeginnings,
                             [&](auto beginning) { return descriptor.starts_with(beginning); });
}

}  // namespace

// The newest name counts, as numbers are reused.
SyscallTable::SyscallTable(const model::Context& context) {
  for (const model::ContextName& name : context.names) {
    if (name.kind == model::NameKind::kSyscall) {
      const auto number = static_cast<std::uint32_t>(name.id);
      names_[number] = name.name;
      const auto word = std::ranges::find(kSyscallWords, name.name, &Word::name);
      if (word != kSyscallWords.end()) kinds_[number] = word->kind;
    } else if (name.kind == model::NameKind::kDescriptor) {
      descriptors_[{name.pid, name.id}] = name.name;
      if (name.name == kTimerDescriptor) with_timers_.insert(name.pid);
    }
  }
}

SyscallKind SyscallTable::kind(std::uint32_t number) const {
  const auto found = kinds_.find(number);
  return found == kinds_.end() ? SyscallKind::kOther : found->second;
}

std::string SyscallTable::name(std::uint32_t number) const {
  const auto found = names_.find(number);
  return found == names_.end() ? fmt::format("system call {}", number) : found->second;
}

std::string_view SyscallTable::known_descriptor(std::uint64_t pid, std::uint64_t number) const {
  const auto found = descriptors_.find({pid, number});
  return found == descriptors_.end() ? std::string_view() : std::string_view(found->second);
}

std::string SyscallTable::descriptor(std::uint64_t pid, std::uint64_t number) const {
  const std::string_view known = known_descriptor(pid, number);
  return known.empty() ? fmt::format("descriptor {}", number) : std::string(known);
}

bool SyscallTable::has_descriptor(std::uint32_t number) const {
  const SyscallKind is = kind(number);
  const bool is_first = is == SyscallKind::kReceive || is == SyscallKind::kSend ||
                        is == SyscallKind::kRead || is == SyscallKind::kWrite ||
                        is == SyscallKind::kConnect;
  return is_first || name(number).starts_with("epoll_");
}

bool SyscallTable::is_packets(const Syscall& call) const {
  return is_of_network(known_descriptor(call.pid, call.arg0));
}

bool SyscallTable::receives(const Syscall& call) const {
  const SyscallKind is = kind(call.number);
  return is == SyscallKind::kReceive || (is == SyscallKind::kRead && is_packets(call));
}

bool SyscallTable::sends(const Syscall& call) const {
  const SyscallKind is = kind(call.number);
  return is == SyscallKind::kSend || (is == SyscallKind::kWrite && is_packets(call));
}

bool SyscallTable::counts_messages(std::uint32_t number) const {
  return name(number).ends_with("mmsg");
}

bool SyscallTable::is_timer(const Syscall& call) const {
  return kind(call.number) == SyscallKind::kRead &&
         known_descriptor(call.pid, call.arg0) == kTimerDescriptor;
}

bool SyscallTable::timed_out(const Syscall& call) const {
  const SyscallKind is = kind(call.number);
  return (is == SyscallKind::kPoll && call.result == 0) ||
         (is == SyscallKind::kFutex && call.result == kTimedOut) ||
         (is == SyscallKind::kReceive && call.result == kTryAgain);
}

bool SyscallTable::found_nothing(const Syscall& call) const {
  const SyscallKind is = kind(call.number);
  return is == SyscallKind::kYield || (is == SyscallKind::kPoll && call.result == 0) ||
         ((is == SyscallKind::kReceive || is == SyscallKind::kRead) && call.result == kTryAgain);
}

}  // namespace sojourn::threads
