#include "analysis/threads/calls.h"

#include <algorithm>
#include <array>

#include <fmt/format.h>

namespace sojourn::threads {

namespace {

struct Word {
  std::string_view name;
  CallKind kind;
};

// As Linux calls them on every machine.
constexpr std::array kWords = {
    Word{"recvfrom", CallKind::kReceive},
    Word{"recvmsg", CallKind::kReceive},
    Word{"recvmmsg", CallKind::kReceive},
    Word{"sendto", CallKind::kSend},
    Word{"sendmsg", CallKind::kSend},
    Word{"sendmmsg", CallKind::kSend},
    Word{"read", CallKind::kRead},
    Word{"readv", CallKind::kRead},
    Word{"write", CallKind::kWrite},
    Word{"writev", CallKind::kWrite},
    Word{"epoll_wait", CallKind::kPoll},
    Word{"epoll_pwait", CallKind::kPoll},
    Word{"epoll_pwait2", CallKind::kPoll},
    Word{"poll", CallKind::kPoll},
    Word{"ppoll", CallKind::kPoll},
    Word{"select", CallKind::kPoll},
    Word{"pselect6", CallKind::kPoll},
    Word{"nanosleep", CallKind::kSleep},
    Word{"clock_nanosleep", CallKind::kSleep},
    Word{"futex", CallKind::kFutex},
    Word{"accept", CallKind::kConnect},
    Word{"accept4", CallKind::kConnect},
    Word{"connect", CallKind::kConnect},
    Word{"sched_yield", CallKind::kYield},
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

// The newest name counts: a number may be used anew.
Calls::Calls(const model::Context& context) {
  for (const model::ContextName& name : context.names) {
    if (name.kind == model::NameKind::kSyscall) {
      const auto number = static_cast<std::uint32_t>(name.id);
      names_[number] = name.name;
      const auto word = std::ranges::find(kWords, name.name, &Word::name);
      if (word != kWords.end()) kinds_[number] = word->kind;
    } else if (name.kind == model::NameKind::kDescriptor) {
      descriptors_[{name.pid, name.id}] = name.name;
      if (name.name == kTimerDescriptor) with_timers_.insert(name.pid);
    }
  }
}

CallKind Calls::kind(std::uint32_t number) const {
  const auto found = kinds_.find(number);
  return found == kinds_.end() ? CallKind::kOther : found->second;
}

std::string Calls::name(std::uint32_t number) const {
  const auto found = names_.find(number);
  return found == names_.end() ? fmt::format("system call {}", number) : found->second;
}

std::string_view Calls::known_descriptor(std::uint64_t pid, std::uint64_t number) const {
  const auto found = descriptors_.find({pid, number});
  return found == descriptors_.end() ? std::string_view() : std::string_view(found->second);
}

std::string Calls::descriptor(std::uint64_t pid, std::uint64_t number) const {
  const std::string_view known = known_descriptor(pid, number);
  return known.empty() ? fmt::format("descriptor {}", number) : std::string(known);
}

bool Calls::has_descriptor(std::uint32_t number) const {
  const CallKind is = kind(number);
  const bool is_first = is == CallKind::kReceive || is == CallKind::kSend ||
                        is == CallKind::kRead || is == CallKind::kWrite || is == CallKind::kConnect;
  return is_first || name(number).starts_with("epoll_");
}

bool Calls::is_packets(const Call& call) const {
  return is_of_network(known_descriptor(call.pid, call.arg0));
}

bool Calls::receives(const Call& call) const {
  const CallKind is = kind(call.number);
  return is == CallKind::kReceive || (is == CallKind::kRead && is_packets(call));
}

bool Calls::sends(const Call& call) const {
  const CallKind is = kind(call.number);
  return is == CallKind::kSend || (is == CallKind::kWrite && is_packets(call));
}

bool Calls::counts_messages(std::uint32_t number) const {
  return name(number).ends_with("mmsg");
}

bool Calls::is_timer(const Call& call) const {
  return kind(call.number) == CallKind::kRead &&
         known_descriptor(call.pid, call.arg0) == kTimerDescriptor;
}

bool Calls::timed_out(const Call& call) const {
  const CallKind is = kind(call.number);
  return (is == CallKind::kPoll && call.result == 0) ||
         (is == CallKind::kFutex && call.result == kTimedOut) ||
         (is == CallKind::kReceive && call.result == kTryAgain);
}

bool Calls::found_nothing(const Call& call) const {
  const CallKind is = kind(call.number);
  return is == CallKind::kYield || (is == CallKind::kPoll && call.result == 0) ||
         ((is == CallKind::kReceive || is == CallKind::kRead) && call.result == kTryAgain);
}

}  // namespace sojourn::threads
