// The counts of a rebuild. Plain data.
#pragma once

#include <cstdint>
#include <vector>

namespace sojourn::journeys {

struct PointTotals {
  std::uint64_t events = 0;
  std::uint64_t control = 0;    // events that carried nothing but control
  std::uint64_t repeats = 0;    // transmissions of the same bytes again
  std::uint64_t cut = 0;        // the parent was not seen: it was before the start, or lost
  std::uint64_t orphans = 0;    // the parent was not seen, for no known reason
  std::uint64_t ambiguous = 0;  // more than one parent fitted
  std::uint64_t malformed = 0;  // the number of values differs from the schema's
  std::uint64_t unread = 0;     // a value that identifies the unit could not be read
};

struct Totals {
  std::uint64_t events = 0;
  std::uint64_t lost = 0;            // gaps in the streams' sequence numbers
  std::uint64_t unknown_points = 0;  // events of a point that the schema does not have
  // Units that were never seen to leave, and were given up: their key was used again, they waited
  // too long, or too many units were in flight.
  std::uint64_t expired_by_reuse = 0;
  std::uint64_t expired_by_time = 0;
  std::uint64_t expired_by_memory = 0;
  std::uint64_t crowded = 0;  // events that found memory full, so that the oldest unit went
  // Several senders share numbers or processes, and no id tells them apart.
  bool mixed_senders = false;
  std::uint64_t missing_pieces = 0;  // units that were reassembled from fewer bytes than they have
  std::uint64_t peak_units = 0;      // in memory at once
  std::uint64_t first_ns = 0;
  std::uint64_t last_ns = 0;
  std::vector<PointTotals> points;   // by PointId
  std::vector<bool> lengths_differ;  // by pair: its offsets and lengths do not fit together
};

}  // namespace sojourn::journeys
