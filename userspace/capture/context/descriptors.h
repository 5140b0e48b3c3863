// The files behind the numbers of the targets' descriptors, so that a reader of system calls can
// distinguish a socket from a timer. They are looked up in /proc once a second, and new ones are
// written to the trace. A descriptor that was opened and closed between two looks has no name. One
// thread owns a Descriptors.
#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <unordered_map>
#include <utility>

#include "analysis/model/context_info.h"
#include "userspace/tracee/process.h"

namespace sojourn::capture {

class Descriptors {
 public:
  // Gives a socket a name, which its descriptors have from then on.
  void name_socket(std::uint64_t inode, std::string name);

  // The descriptors that are new since the call before; none before a second has passed.
  model::Context news(std::span<const tracee::Process* const> processes);

 private:
  void look(const tracee::Process& process, model::Context& into);
  std::string words(const std::string& link) const;

  std::chrono::steady_clock::time_point next_;
  std::unordered_map<std::uint64_t, std::string> sockets_;              // by inode
  std::map<std::pair<pid_t, std::uint64_t>, std::string> descriptors_;  // by process and number
};

}  // namespace sojourn::capture
