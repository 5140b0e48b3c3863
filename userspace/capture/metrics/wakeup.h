// Wakes a thread that waits in poll(). Any thread may call send().
#pragma once

#include <cstdint>
#include <tuple>

#include <sys/eventfd.h>
#include <unistd.h>

#include "userspace/base/fd.h"

namespace sojourn::capture {

class Wakeup {
 public:
  bool is_there() const { return static_cast<bool>(fd_); }
  int fd() const { return fd_.get(); }
  void send() const {
    const std::uint64_t one = 1;
    std::ignore = write(fd_.get(), &one, sizeof(one));
  }
  void take() const {
    std::uint64_t news = 0;
    std::ignore = read(fd_.get(), &news, sizeof(news));
  }

 private:
  base::Fd fd_{eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)};
};

}  // namespace sojourn::capture
