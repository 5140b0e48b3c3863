// The names of threads: the targets' own, and those that other sources report. Each is written to
// the trace once, and again when it changes. The capture's thread owns it.
#pragma once

#include <cstdint>
#include <string>
#include <unordered_map>

#include "analysis/model/context_info.h"
#include "userspace/tracee/process.h"

namespace sojourn::capture {

class ThreadNames {
 public:
  // Adds the names of the process's threads that are new or have changed. Looking only for new
  // threads is quick, however many there are. With kStates all are added, with their present
  // states.
  enum class Look { kNew, kAll, kStates };
  void look(const tracee::Process& process, Look what, model::Context& into);

  // Adds the name of a thread of any process.
  void add(std::uint32_t tid, std::string name, std::uint64_t pid, model::Context& into);

  const std::unordered_map<std::uint32_t, std::string>& known() const { return known_; }
  std::uint64_t changes() const { return changes_; }  // the number of added names

 private:
  bool is_news(std::uint32_t tid, const std::string& name);

  std::unordered_map<std::uint32_t, std::string> known_;  // by tid
  std::uint64_t changes_ = 0;
};

}  // namespace sojourn::capture
