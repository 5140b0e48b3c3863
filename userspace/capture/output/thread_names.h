// What threads are called: the targets' own, and those that somebody else tells of. Each is told to
// the trace once, and again when it has another name. The capture's thread owns it.
#pragma once

#include <cstdint>
#include <string>
#include <unordered_map>

#include "analysis/model/context_info.h"
#include "userspace/tracee/process.h"

namespace sojourn::capture {

class ThreadNames {
 public:
  // Adds what is new of the process's threads. Looking for new ones only is quick, however many
  // there are. With their states all are told, and what each of them does just now.
  enum class Look { kNew, kAll, kStates };
  void look(const tracee::Process& process, Look what, model::Context& into);

  // Of a thread of whichever process.
  void add(std::uint32_t tid, std::string name, std::uint64_t pid, model::Context& into);

  const std::unordered_map<std::uint32_t, std::string>& known() const { return known_; }
  std::uint64_t changes() const { return changes_; }  // how often something new came to be known

 private:
  bool is_news(std::uint32_t tid, const std::string& name);

  std::unordered_map<std::uint32_t, std::string> known_;  // by tid
  std::uint64_t changes_ = 0;
};

}  // namespace sojourn::capture
