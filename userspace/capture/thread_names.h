// What a target's threads are called, each told to the trace once, and again when it has another
// name. What the kernel's context and profiles tell of threads they tell by themselves; this is for
// captures without them. One thread owns it.
#pragma once

#include <cstdint>
#include <string>
#include <unordered_map>

#include "analysis/model/context.h"
#include "userspace/target/process.h"

namespace sojourn::capture {

class ThreadNames {
 public:
  // Adds what is new of the process's threads. Looking for new ones only is quick, however many
  // there are.
  enum class Look { kNew, kAll };
  void look(const target::Process& process, Look what, model::Context& into);

 private:
  std::unordered_map<std::uint32_t, std::string> known_;  // by tid
};

}  // namespace sojourn::capture
