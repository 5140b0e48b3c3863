// The hits that a trace file lacks of its capture: those of each stream that are neither in the
// file nor counted as lost, and those in damaged parts of the file. Most of it is known from
// headers when a Reader is opened. Damage inside of a block is known once that block was read.
// Plain data.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>

#include "analysis/trace/reader.h"

namespace sojourn::trace {

struct StreamAccount {
  std::uint64_t blocks = 0;
  std::uint64_t events = 0;   // in blocks that are not known to be damaged
  std::uint64_t missing = 0;  // hits that are not in the file, as far as is known
  std::uint64_t counted = 0;  // by the ledger, of losses that took a sequence number

  // More may be counted than is missing. Losses after a stream's last event leave no gap, and are
  // known only of a capture that ended in order.
  std::uint64_t unaccounted() const { return missing > counted ? missing - counted : 0; }
};

struct Completeness {
  std::map<std::uint32_t, StreamAccount> streams;
  std::uint64_t events = 0;
  std::uint64_t missing = 0;
  std::uint64_t unaccounted = 0;
  std::uint64_t lost = 0;      // that the ledger counts
  std::uint64_t filtered = 0;  // that it counts as not wanted: no loss
  std::uint64_t cut = 0;       // of the lost: passed while the connection was broken
  std::uint64_t streamed = 0;  // of the lost: went to readers and not into the file
  std::size_t damaged_places = 0;
  std::uint64_t damaged_bytes = 0;
  bool ended_in_order = false;
  bool is_import = false;  // what its tracer lost is in no ledger

  // Returns whether each captured hit is in the file, or counted as lost.
  bool is_whole() const { return damaged_places == 0 && unaccounted == 0 && ended_in_order; }
  bool knows_losses() const { return is_whole() && !is_import; }
  std::uint64_t lost_or_missing() const { return lost + unaccounted; }
};

Completeness completeness_of(const Reader& reader);

}  // namespace sojourn::trace
