// The options --deadline and --slot: a time, or a number of slots, whose length is given or
// measured between events that name their slot.
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
  // `help` says what the deadline decides; its syntax is added.
  void define(Arguments& arguments, const std::string& help);
  // Refuses options that contradict each other, while arguments are parsed.
  void check();

  bool given() const { return !text_.empty(); }
  // Returns whether a slot's length must be measured from the events.
  bool asks_events() const { return slots_.has_value() && !slot_ns_; }
  // The deadline that was given, in nanoseconds. `slots` has seen the trace's events if those are
  // needed; the measured length is reported on stderr.
  Result<std::uint64_t> in_time(const report::SlotLength& slots, const trace::Reader& reader) const;

 private:
  std::string text_;
  std::string slot_;
  std::uint64_t ns_ = 0;         // if it is a time
  std::optional<double> slots_;  // if it is a number of slots
  std::optional<std::uint64_t> slot_ns_;
};

}  // namespace sojourn::cli
