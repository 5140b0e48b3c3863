// Knows when events were lost: from gaps in the sequence numbers of streams, while events pass by,
// and from the ledger.
#pragma once

#include <cstdint>
#include <span>
#include <unordered_map>
#include <vector>

#include "analysis/journeys/capture_marks.h"
#include "analysis/model/event.h"

namespace sojourn::journeys {

class Losses {
 public:
  // `first`: by stream, the sequence number that its first event has if nothing was lost. No entry
  // means 0.
  Losses(std::uint64_t open_ns, std::vector<LossSpan> known, std::span<const std::uint64_t> first);

  // Returns the change of the number of missing events. It goes up when numbers are skipped, and
  // down when a skipped event comes after all. A handler that is preempted between its stamp and
  // its number swaps two events. The span is kept even then, because nothing distinguishes it from
  // one in which events were lost.
  std::int64_t note(const model::EventView& event) {
    if (event.stream >= direct_.size() || direct_[event.stream].next_seq != event.seq) [[unlikely]]
      return note_unexpected(event);
    auto& stream = direct_[event.stream];
    ++stream.next_seq;
    stream.last_ns = event.ts_ns;
    return 0;
  }

  // An event did not identify its unit, which counts as a loss.
  void note_unknown(std::uint64_t ts_ns) { add({.begin_ns = ts_ns, .end_ns = ts_ns}); }

  // Returns whether events of any direction may have been lost since then. Usually none were.
  bool since(std::uint64_t from_ns) const { return from_ns <= last_ns_; }

  // Returns whether events of the direction may have been lost between the two instants.
  bool between(std::uint64_t from_ns, std::uint64_t to_ns, model::Direction direction) const {
    return since(from_ns) && was_between(from_ns, to_ns, direction);
  }

 private:
  struct Stream {
    std::uint64_t next_seq = 0;
    std::uint64_t last_ns = 0;
    std::uint64_t missing = 0;
  };

  bool was_between(std::uint64_t from_ns, std::uint64_t to_ns, model::Direction direction) const;
  std::int64_t note_unexpected(const model::EventView& event);
  Stream& stream(std::uint32_t id);
  void add(LossSpan span);

  std::uint64_t open_ns_;
  std::vector<Stream> direct_;  // streams with low numbers
  std::unordered_map<std::uint32_t, Stream> others_;
  std::vector<LossSpan> known_;
  std::vector<LossSpan> spans_;
  std::uint64_t last_ns_ = 0;  // the end of the last of all these spans
};

}  // namespace sojourn::journeys
