// What a capture says of what it may lack. Plain data.
#pragma once

#include <cstdint>
#include <vector>

namespace sojourn::journeys {

// Events were lost somewhere between the two.
struct LossSpan {
  std::uint64_t begin_ns = 0;
  std::uint64_t end_ns = 0;
};

// The instants between which every event is in the trace or in its ledger; 0: not known.
struct CaptureMarks {
  std::uint64_t open_ns = 0;
  std::uint64_t close_ns = 0;
  std::vector<std::uint64_t> first_seqs = {};  // by stream, see Losses
  std::vector<LossSpan> losses = {};  // that no gap in the sequence numbers will tell, in any order
  // By stream: of which processes it is. Units of different groups have nothing to do with each
  // other, whatever their ids say. Where it has no entry: 0.
  std::vector<std::uint16_t> groups = {};
};

}  // namespace sojourn::journeys
