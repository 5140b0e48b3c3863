// Everything in a trace that is not an event, built up from its blocks. The newest block of a kind
// counts, except that streams, clock pairs, targets, context and profiles add up. Unknown kinds are
// skipped. In a streamed trace of several parts, a later part's description replaces the earlier
// one once it is complete. One thread owns a Metadata.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "analysis/base/result.h"
#include "analysis/model/capture_info.h"
#include "analysis/model/context_info.h"
#include "analysis/model/energy_info.h"
#include "analysis/model/profile_info.h"
#include "analysis/model/queue_info.h"
#include "analysis/model/schema.h"
#include "analysis/trace/format.h"
#include "analysis/trace/parts.h"

namespace sojourn::trace {

struct Metadata {
  model::Schema schema;
  std::vector<model::Target> targets = {model::Target{}};  // never empty
  bool has_targets = false;
  model::Host host;
  model::Capture capture;
  std::vector<model::Stream> streams;
  std::vector<model::ClockPair> clocks;
  model::Ledger ledger;
  model::QueueChanges queue_changes;
  model::Sampling sampling;
  model::Context context;
  model::Profile profile;
  model::Energy energy;

  // The raw payload of a block of that type.
  Result<void> add(BlockType type, std::span<const std::uint8_t> json);

  // Counts a block's events, which the ledger of a trace in several parts needs.
  void count_events(std::uint32_t stream, std::uint64_t events) {
    parts_.count_events(stream, events);
  }

  // Drops ledger entries of unknown points, because points are looked up by id. Returns their
  // number.
  std::size_t drop_unknown_losses();

 private:
  Result<void> add_origin(std::span<const std::uint8_t> json);
  Result<void> add_capture(std::span<const std::uint8_t> json);
  Result<void> add_ledger(std::span<const std::uint8_t> json);
  Result<void> add_target(std::span<const std::uint8_t> json);
  Result<void> add_schema(std::span<const std::uint8_t> json);
  void end_description();

  Parts parts_;
  // A later part's description of the capture, while it is incomplete.
  std::unique_ptr<Metadata> next_;
};

}  // namespace sojourn::trace
