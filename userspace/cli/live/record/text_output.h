// `sojourn record --text`: prints the events of the running capture on standard output in order of
// time, as `sojourn events` does. It reads the capture's stream in a thread of its own. If standard
// output is slow it loses events, as any slow reader does, and reports that at the end.
#pragma once

#include <thread>

#include "userspace/base/fd.h"

namespace sojourn::cli {

class TextOutput {
 public:
  // Without a stream it does nothing.
  explicit TextOutput(base::Fd stream);
  TextOutput(const TextOutput&) = delete;
  TextOutput& operator=(const TextOutput&) = delete;
  ~TextOutput();  // waits until all of the stream is printed

 private:
  base::Fd stream_;
  std::thread thread_;
};

}  // namespace sojourn::cli
