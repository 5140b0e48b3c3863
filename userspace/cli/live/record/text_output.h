// `sojourn record --text`: prints the events of the running capture on standard output in order of
// time, as `sojourn events` does. It reads the capture's stream in a thread of its own. If printing
// is slow it loses events, as any slow reader does, and reports that at the end.
#pragma once

#include <cstdint>
#include <thread>

#include "analysis/base/result.h"
#include "userspace/base/fd.h"

namespace sojourn::cli {

class TextOutput {
 public:
  // Without a stream it does nothing.
  explicit TextOutput(base::Fd stream);
  TextOutput(const TextOutput&) = delete;
  TextOutput& operator=(const TextOutput&) = delete;
  ~TextOutput();  // waits until all of the stream is printed

  // Waits as well, and says how many of the capture's events were not printed. Fails if standard
  // output cannot be written. A reader that has closed the pipe is no error.
  Result<void> finish(std::uint64_t events);

  // How much of the stream was printed, and what kept the rest.
  struct Printed {
    std::uint64_t events = 0;
    std::uint64_t lost = 0;  // events that the stream left out, as nobody took them in time
    bool has_end = false;    // else the stream was given up, and more events were in the rest
    bool is_taken = true;    // by the reader of standard output
    Result<void> written = {};
  };

 private:
  base::Fd stream_;
  Printed printed_;  // the thread's, until it has ended
  std::thread thread_;
};

}  // namespace sojourn::cli
