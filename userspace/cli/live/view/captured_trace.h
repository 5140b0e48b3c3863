// A capture for `sojourn live -p PID` and `serve -p PID`: `sojourn record` in a process of its own.
// Its trace has no name, and this process reads it as it grows. So the capture goes on and ends in
// order even if the view is stopped or dies, and it has no rights that the view has. One thread
// owns a CapturedTrace.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include <sys/types.h>

#include "analysis/base/result.h"
#include "analysis/trace/byte_source.h"
#include "userspace/base/fd.h"
#include "userspace/cli/live/record/record_options.h"
#include "userspace/live/unnamed_trace.h"

namespace sojourn::cli {

class CapturedTrace {
 public:
  // Call it while this process has one thread and blocks no signals. The child closes the socket
  // `not_for_child`, which only this process uses; -1: there is none.
  static Result<std::unique_ptr<CapturedTrace>> start(RecordOptions& options,
                                                      live_view::UnnamedTrace trace,
                                                      int not_for_child = -1);
  CapturedTrace(const CapturedTrace&) = delete;
  CapturedTrace& operator=(const CapturedTrace&) = delete;
  ~CapturedTrace() { stop(); }

  Result<std::unique_ptr<trace::ByteSource>> source() const { return trace_.source("the capture"); }
  Result<base::Fd> file() const { return trace_.file(); }
  pid_t pid() const { return pid_; }

  // Whole lines that it has said since, without its name.
  std::vector<std::string> take_messages();
  int messages() const { return messages_.get(); }

  bool has_ended();
  bool has_failed() const { return has_failed_; }  // when it has ended

  // Asks it to end, and waits until it has taken off its probes.
  void stop();

 private:
  CapturedTrace(pid_t pid, base::Fd messages, live_view::UnnamedTrace trace)
      : pid_(pid), messages_(std::move(messages)), trace_(std::move(trace)) {}

  void note_end(int status);

  pid_t pid_;
  base::Fd messages_;
  live_view::UnnamedTrace trace_;
  std::string unfinished_;  // line
  bool has_ended_ = false;
  bool has_failed_ = false;
};

}  // namespace sojourn::cli
