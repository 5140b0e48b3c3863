// Reports processes that come and go to the listener, and limits how many. The capture's thread
// owns it.
#pragma once

#include <cstddef>
#include <string>

#include <sys/types.h>

#include "userspace/capture/session/capture_options.h"

namespace sojourn::capture {

class ProcessNews {
 public:
  // Reports a process that joined or ended. A program that forks all day must not fill the screen.
  void say(const Listener& listener, const std::string& words);
  // Counts a process that ended before it could be attached to. The first such process is reported.
  void say_brief(const Listener& listener, pid_t pid);

 private:
  std::size_t said_ = 0;
  bool has_said_brief_ = false;
};

}  // namespace sojourn::capture
