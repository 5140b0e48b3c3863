// A capture for `sojourn live -p PID`: `sojourn record` in a process of its own, whose trace is
// memory that this process reads as it grows. So whatever becomes of the view, also while it is
// stopped, the capture goes on and ends as always; and it has no rights that the view has. One
// thread owns a CapturedTrace.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include <sys/types.h>

#include "analysis/base/result.h"
#include "analysis/trace/byte_source.h"
#include "userspace/base/fd.h"
#include "userspace/cli/live/record/record_options.h"

namespace sojourn::cli {

class CapturedTrace {
 public:
  // While this process has one thread and blocks no signals.
  static Result<std::unique_ptr<CapturedTrace>> start(RecordOptions& options);
  CapturedTrace(const CapturedTrace&) = delete;
  CapturedTrace& operator=(const CapturedTrace&) = delete;
  ~CapturedTrace() { stop(); }

  std::unique_ptr<trace::ByteSource> take_source() { return std::move(source_); }
  pid_t pid() const { return pid_; }

  // Whole lines that it has said since, without its name.
  std::vector<std::string> take_messages();
  int messages() const { return messages_.get(); }

  bool has_ended();
  bool has_failed() const { return has_failed_; }  // when it has ended

  // Asks it to end, and waits until it has taken off its probes.
  void stop();

 private:
  CapturedTrace(pid_t pid, base::Fd messages, std::unique_ptr<trace::ByteSource> source)
      : pid_(pid), messages_(std::move(messages)), source_(std::move(source)) {}

  void note_end(int status);

  pid_t pid_;
  base::Fd messages_;
  std::unique_ptr<trace::ByteSource> source_;
  std::string unfinished_;  // line
  bool has_ended_ = false;
  bool has_failed_ = false;
};

}  // namespace sojourn::cli
