// `record`'s options of the flight recorder.
#pragma once

#include <string>

#include <CLI/CLI.hpp>

#include "analysis/base/result.h"
#include "userspace/capture/capture.h"

namespace sojourn::cli {

class FlightOptions {
 public:
  void define(CLI::App& app);
  bool is_asked() const { return !history_.empty(); }
  Result<void> apply(capture::Options& options) const;

 private:
  std::string history_;
  std::string after_;
  std::string memory_;
  bool wait_ = false;
};

}  // namespace sojourn::cli
