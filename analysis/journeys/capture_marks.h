// The marks and the losses of a capture: which events a trace may lack. Plain data.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "analysis/model/schema.h"

namespace sojourn::journeys {

// Events were lost at some time between the two, or their points were off.
struct LossSpan {
  std::uint64_t begin_ns = 0;
  std::uint64_t end_ns = 0;
  // Only events of this direction are missing; none: of any.
  std::optional<model::Direction> direction = std::nullopt;
};

struct CaptureMarks {
  // Between these two instants every event is in the trace or in its ledger. 0: not known.
  std::uint64_t open_ns = 0;
  std::uint64_t close_ns = 0;
  // By stream, the sequence number that its first event has if nothing was lost. No entry means 0.
  std::vector<std::uint64_t> first_seqs = {};
  // Losses that no gap in the sequence numbers shows, in any order.
  std::vector<LossSpan> losses = {};
  // By stream, the group of processes that it belongs to. Units of different groups never match,
  // whatever their ids are. No entry means 0.
  std::vector<std::uint16_t> groups = {};
};

}  // namespace sojourn::journeys
