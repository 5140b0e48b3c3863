// The purpose of system calls and descriptors, by their names in a trace. Immutable once made.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <utility>

#include "analysis/model/context_info.h"

namespace sojourn::threads {

enum class SyscallKind : std::uint8_t {
  kOther,
  kReceive,  // from a socket
  kSend,
  kRead,  // from any descriptor
  kWrite,
  kPoll,  // for one of several descriptors: epoll_wait, poll, select
  kSleep,
  kFutex,
  kConnect,  // or accept
  kYield,
};

// A system call that has returned, with its arguments.
struct Syscall {
  std::uint32_t number = 0;
  std::uint64_t begin_ns = 0;
  std::uint64_t end_ns = 0;
  std::int64_t result = 0;
  std::uint64_t arg0 = 0;
  std::uint64_t op = 0;
  std::uint64_t pid = 0;
};

class SyscallTable {
 public:
  explicit SyscallTable(const model::Context& context);

  SyscallKind kind(std::uint32_t number) const;
  std::string name(std::uint32_t number) const;
  // "udp 127.0.0.1:2152", "anon_inode:[timerfd]"; "descriptor 12" if it was closed before it was
  // looked up.
  std::string descriptor(std::uint64_t pid, std::uint64_t number) const;

  // receives() and sends() return whether the call handles packets of a socket or a network device.
  bool receives(const Syscall& call) const;
  bool sends(const Syscall& call) const;
  // Returns whether its result is a number of messages, not of bytes.
  bool counts_messages(std::uint32_t number) const;

  bool is_timer(const Syscall& call) const;  // reads a timerfd
  bool has_timers(std::uint64_t pid) const { return with_timers_.contains(pid); }
  bool timed_out(const Syscall& call) const;
  bool found_nothing(const Syscall& call) const;  // it looked for work, and there was none

  // Returns whether its first argument is a descriptor.
  bool has_descriptor(std::uint32_t number) const;

 private:
  bool is_packets(const Syscall& call) const;
  std::string_view known_descriptor(std::uint64_t pid, std::uint64_t number) const;

  std::map<std::uint32_t, std::string> names_;
  std::map<std::uint32_t, SyscallKind> kinds_;
  std::map<std::pair<std::uint64_t, std::uint64_t>, std::string> descriptors_;
  std::set<std::uint64_t> with_timers_;
};

}  // namespace sojourn::threads
