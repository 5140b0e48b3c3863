// What the listener is told of processes that come and go, and how often. The capture's thread owns
// it.
#pragma once

#include <cstddef>
#include <string>

#include <sys/types.h>

#include "userspace/capture/session/capture_options.h"

namespace sojourn::capture {

class ProcessNews {
 public:
  // A process has joined or ended. A program that forks all day must not fill the screen.
  void say(const Listener& listener, const std::string& words);
  // A process ended before it could be attached to. The first such process is told of.
  void say_brief(const Listener& listener, pid_t pid);

 private:
  std::size_t said_ = 0;
  bool has_said_brief_ = false;
};

}  // namespace sojourn::capture
