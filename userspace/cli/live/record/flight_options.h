// The options of `record` for the flight recorder.
#pragma once

#include <string>
#include <vector>

#include "analysis/base/result.h"
#include "userspace/capture/api.h"
#include "userspace/cli/arguments.h"

namespace sojourn::cli {

class FlightOptions {
 public:
  void define(Arguments& arguments);
  void define_wait(Arguments& arguments);  // alone
  bool waits() const { return wait_; }
  bool is_asked() const { return !history_.empty(); }
  bool is_rings() const { return history_ == kRings; }  // the target's own rings hold the history
  bool asks_for(filter::Keyword word) const;            // returns whether a trigger does
  Result<void> apply(capture::Options& options) const;

 private:
  static constexpr auto kRings = "rings";

  std::string history_;
  std::string after_;
  std::string memory_;
  std::vector<std::string> triggers_;
  unsigned max_dumps_ = 10;
  bool wait_ = false;
};

}  // namespace sojourn::cli
