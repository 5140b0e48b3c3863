// The messages of `sojourn record` while it runs and when it has ended, on stderr.
#pragma once

#include <unistd.h>

#include "userspace/capture/api.h"
#include "userspace/cli/live/record/record_options.h"

namespace sojourn::cli {

// The message for a command that has no points itself.
void tell_launched(const RecordOptions& options, const capture::Coverage& coverage);

void tell_attached(const RecordOptions& options, const capture::Capture& capture);

void tell_outcome(const RecordOptions& options, const capture::Capture& capture,
                  const capture::Outcome& outcome);

// One line that rewrites itself on a terminal.
class RunningTotals {
 public:
  explicit RunningTotals(bool quiet) : terminal_(!quiet && isatty(STDERR_FILENO) == 1) {}

  void operator()(const capture::Progress& progress) const;
  void clear() const;

 private:
  bool terminal_;
};

}  // namespace sojourn::cli
