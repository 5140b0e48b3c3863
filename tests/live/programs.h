// The programs of the live tests, run as a user runs them.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "analysis/trace/reader.h"
#include "tests/basestation/truth.h"
#include "tests/support/child.h"
#include "userspace/tracee/program_points.h"

namespace sojourn::live {

// Ends the test aloud where probes cannot be attached.
void need_root();

// A base station that writes its truth, ready to be attached to.
class Station {
 public:
  explicit Station(std::vector<std::string> options = {});

  pid_t pid() const { return child_->pid(); }
  bool running() { return child_->running(); }

  // Ends it in order and reads its truth file.
  truth::Truth finish();

 private:
  test::TemporaryDirectory directory_;
  std::unique_ptr<test::Child> child_;
};

// `sojourn` with these arguments, run to its end.
test::Ended sojourn(std::vector<std::string> arguments);

// Runs sojourn, and requires success.
std::string sojourn_done(std::vector<std::string> arguments);

trace::Reader open_trace(const std::string& path);

// The first byte of every site's instruction in the process's memory now.
std::vector<unsigned char> site_bytes(pid_t pid, const tracee::Points& points);
tracee::Points points_of(pid_t pid);

}  // namespace sojourn::live
