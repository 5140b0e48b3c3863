// What the numbers of the targets' descriptors stand for, so that a reader of system calls knows a
// socket from a timer: looked up in /proc once a second, told to the trace where it is new. What
// was opened and closed between two looks has no name. One thread owns a Descriptors.
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
  // A socket's words, by which its descriptors are called from then on.
  void name_socket(std::uint64_t inode, std::string name);

  // What is new since the call before; nothing before a second has passed.
  model::Context news(std::span<const tracee::Process* const> processes);

 private:
  void look(const tracee::Process& process, model::Context& into);
  std::string words(const std::string& link) const;

  std::chrono::steady_clock::time_point next_;
  std::unordered_map<std::uint64_t, std::string> sockets_;              // by inode
  std::map<std::pair<pid_t, std::uint64_t>, std::string> descriptors_;  // by process and number
};

}  // namespace sojourn::capture
