// A small program of tests/live/subjects, recorded from before its work to its end, and the numbers
// that it has counted itself. The subject prints "ready", waits for SIGUSR1, works, and prints
// lines of a name and a number. One thread owns it; the trace goes when it is destroyed.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "tests/support/child.h"

namespace sojourn::live {

class SubjectRecording {
 public:
  // `subject`: its program and arguments; `options`: those of `record` besides -p and -o; `began`:
  // the text of `record` that shows that it records. Requires that both end in order.
  SubjectRecording(const std::vector<std::string>& subject, const std::vector<std::string>& options,
                   const std::string& began);

  std::string path() const { return directory_.path("run.sjt"); }
  const std::string& said() const { return said_; }  // the messages of `record`

  // The subject's own number of that name. Requires that it printed one.
  std::uint64_t counted(const std::string& name) const;

 private:
  test::TemporaryDirectory directory_;
  std::string said_;
  std::map<std::string, std::uint64_t> counted_;
};

}  // namespace sojourn::live
