// `sojourn record --listen --stream --flush-every --metrics --metrics-ues`: who reads the trace
// while it is written, and who its figures.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "analysis/base/result.h"
#include "userspace/capture/api.h"
#include "userspace/cli/arguments.h"

namespace sojourn::cli {

class StreamOptions {
 public:
  void define(Arguments& arguments);
  Result<void> apply(capture::Options& options) const;

 private:
  std::vector<std::string> listen_;
  std::vector<std::string> connect_;
  std::string flush_period_;
  std::string metrics_;
  std::size_t metrics_ues_ = 0;
};

// Where readers may connect, and by what.
void tell_streams(const capture::Capture& capture);
// What readers did not get.
void tell_streamed(const capture::Outcome& outcome);

}  // namespace sojourn::cli
