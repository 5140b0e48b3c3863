// `sojourn record --text`: prints the events of the running capture on standard output, as `sojourn
// events` does, in order of time. It reads the capture's stream in a thread of its own; where
// standard output is slow, it loses events as any slow reader does, and says so at the end.
#pragma once

#include <thread>

#include "userspace/base/fd.h"

namespace sojourn::cli {

class TextOutput {
 public:
  // Nothing happens where there is no stream.
  explicit TextOutput(base::Fd stream);
  TextOutput(const TextOutput&) = delete;
  TextOutput& operator=(const TextOutput&) = delete;
  ~TextOutput();  // waits until all of the stream is printed

 private:
  base::Fd stream_;
  std::thread thread_;
};

}  // namespace sojourn::cli
