// The options --deadline and --slot: a time, or so many slots, whose length is said or measured
// between events that name their slot.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "analysis/base/result.h"
#include "analysis/report/slot_length.h"
#include "analysis/trace/reader.h"
#include "userspace/cli/arguments.h"

namespace sojourn::cli {

class DeadlineOption {
 public:
  // `help` says what a deadline is for; how it is written is added.
  void define(Arguments& arguments, const std::string& help);
  // While arguments are parsed: refuses what cannot be meant.
  void check();

  bool given() const { return !text_.empty(); }
  // How long a slot is must be learnt from the events.
  bool asks_events() const { return slots_.has_value() && !slot_ns_; }
  // Of one that was given. `slots` has seen the trace's events where they are asked; what they say
  // is told.
  Result<std::uint64_t> in_time(const report::SlotLength& slots, const trace::Reader& reader) const;

 private:
  std::string text_;
  std::string slot_;
  std::uint64_t ns_ = 0;         // where it is a time
  std::optional<double> slots_;  // else
  std::optional<std::uint64_t> slot_ns_;
};

}  // namespace sojourn::cli
