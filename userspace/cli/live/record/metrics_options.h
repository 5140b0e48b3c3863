// `--metrics`, `--metrics-ues`, `--influx`, `--influx-every`, `--influx-token`, `--influx-tag` of
// `sojourn record` and `sojourn serve`: the receivers of metrics while a capture runs.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "analysis/base/result.h"
#include "userspace/capture/api.h"
#include "userspace/cli/arguments.h"

namespace sojourn::cli {

class MetricsChoice {
 public:
  void define(Arguments& arguments);
  bool is_given() const { return !address_.empty() || !influx_.empty(); }
  // Called when the arguments are parsed. Refuses options that exclude each other.
  void check() const;
  // Reads the file of the token.
  Result<void> apply(capture::Options& options) const;
  void tell_influx() const;

 private:
  Result<void> apply_influx(capture::MetricsOptions& options) const;

  std::string address_;
  std::size_t ues_ = 0;
  std::string influx_;
  std::string influx_period_ = "5s";
  std::string influx_token_;
  std::vector<std::string> influx_tags_;
};

// Prints the address at which metrics are served, and the one to which they are written.
void tell_metrics(const capture::Capture& capture, const MetricsChoice& choice);
// Prints how many points InfluxDB got.
void tell_monitored(const capture::Outcome& outcome);

}  // namespace sojourn::cli
