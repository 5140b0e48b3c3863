// When events were lost: found from the streams' sequence numbers while events pass by, or known
// from the ledger before.
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
  // `first`: by stream the number that its first event has where nothing is lost; none: 0.
  Losses(std::uint64_t open_ns, std::vector<LossSpan> known, std::span<const std::uint64_t> first);

  // Returns by how much the number of missing events changes: up where numbers were skipped, down
  // where one of them comes after all. A handler that is preempted between stamp and number makes
  // its event and another's trade places; the span stays, as nothing tells it from one where events
  // were lost.
  std::int64_t note(const model::EventView& event) {
    if (event.stream >= direct_.size() || direct_[event.stream].next_seq != event.seq) [[unlikely]]
      return note_unexpected(event);
    auto& stream = direct_[event.stream];
    ++stream.next_seq;
    stream.last_ns = event.ts_ns;
    return 0;
  }

  // An event that does not say which unit it is of: that unit has lost it.
  void note_unknown(std::uint64_t ts_ns) { add({ts_ns, ts_ns}); }

  // Whether something may have been lost since. Mostly nothing was.
  bool since(std::uint64_t from_ns) const { return from_ns <= last_ns_; }

  // Whether something may have been lost between the two.
  bool between(std::uint64_t from_ns, std::uint64_t to_ns) const {
    return since(from_ns) && was_between(from_ns, to_ns);
  }

 private:
  struct Stream {
    std::uint64_t next_seq = 0;
    std::uint64_t last_ns = 0;
    std::uint64_t missing = 0;
  };

  bool was_between(std::uint64_t from_ns, std::uint64_t to_ns) const;
  std::int64_t note_unexpected(const model::EventView& event);
  Stream& stream(std::uint32_t id);
  void add(LossSpan span);

  std::uint64_t open_ns_;
  std::vector<Stream> direct_;  // those that have the first numbers
  std::unordered_map<std::uint32_t, Stream> others_;
  std::vector<LossSpan> known_;
  std::vector<LossSpan> spans_;
  std::uint64_t last_ns_ = 0;  // when the last of all these ended
};

}  // namespace sojourn::journeys
