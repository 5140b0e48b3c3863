// What a rebuild counts. Plain data.
#pragma once

#include <cstdint>
#include <vector>

namespace sojourn::journeys {

struct PointTotals {
  std::uint64_t events = 0;
  std::uint64_t control = 0;    // carried nothing but control
  std::uint64_t repeats = 0;    // transmitted again
  std::uint64_t cut = 0;        // parent not seen: before the start, or lost
  std::uint64_t orphans = 0;    // parent not seen, for no known reason
  std::uint64_t ambiguous = 0;  // more than one parent fitted
  std::uint64_t malformed = 0;  // number of values differs from the schema's
  std::uint64_t unread = 0;     // what says which unit it is could not be read
};

struct Totals {
  std::uint64_t events = 0;
  std::uint64_t lost = 0;               // gaps in the streams' sequence numbers
  std::uint64_t unknown_points = 0;     // events of a point that the schema does not have
  std::uint64_t expired_by_reuse = 0;   // units that never left: their key was used again,
  std::uint64_t expired_by_time = 0;    // they waited too long,
  std::uint64_t expired_by_memory = 0;  // or too much was in flight
  std::uint64_t crowded = 0;            // events that found memory full: what was oldest was let go
  bool mixed_senders = false;  // several share numbers or processes, and no id says which is which
  std::uint64_t missing_pieces = 0;  // units put together from fewer bytes than they have
  std::uint64_t peak_units = 0;      // in memory at once
  std::uint64_t first_ns = 0;
  std::uint64_t last_ns = 0;
  std::vector<PointTotals> points;   // by PointId
  std::vector<bool> lengths_differ;  // by pair: offsets and lengths do not fit together
};

}  // namespace sojourn::journeys
