// When events were lost: found from the streams' sequence numbers while events pass by, or known
// from the ledger before.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <unordered_map>
#include <utility>
#include <vector>

#include "analysis/model/event.h"

namespace sojourn::journeys {

// Events were lost somewhere between the two.
struct LossSpan {
  std::uint64_t begin_ns = 0;
  std::uint64_t end_ns = 0;
};

class Losses {
 public:
  // `first`: by stream the number that its first event has where nothing is lost; none: 0.
  Losses(std::uint64_t open_ns, std::vector<LossSpan> known, std::span<const std::uint64_t> first)
      : open_ns_(open_ns), known_(std::move(known)) {
    for (const auto& span : known_) last_ns_ = std::max(last_ns_, span.end_ns);
    for (std::size_t stream = 0; stream < first.size(); ++stream) {
      const auto id = static_cast<std::uint32_t>(stream);
      (id < kDirect ? direct(id) : others_[id]).next_seq = first[stream];
    }
  }

  // Returns by how much the number of missing events changes: up where numbers were skipped, down
  // where one of them comes after all. A handler that is preempted between stamp and number makes
  // its event and another's trade places; the span stays, as nothing tells it from one where events
  // were lost.
  std::int64_t note(const model::EventView& event) {
    auto& stream = event.stream < kDirect ? direct(event.stream) : others_[event.stream];
    if (event.seq < stream.next_seq) return stream.missing == 0 ? 0 : (--stream.missing, -1);
    const auto skipped = event.seq - stream.next_seq;
    if (skipped != 0) add({stream.last_ns == 0 ? open_ns_ : stream.last_ns, event.ts_ns});
    stream = {event.seq + 1, event.ts_ns, stream.missing + skipped};
    return static_cast<std::int64_t>(skipped);
  }

  // An event that does not say which unit it is of: that unit has lost it.
  void note_unknown(std::uint64_t ts_ns) { add({ts_ns, ts_ns}); }

  // Whether something may have been lost since. Mostly nothing was.
  bool since(std::uint64_t from_ns) const { return from_ns <= last_ns_; }

  // Whether something may have been lost between the two.
  bool between(std::uint64_t from_ns, std::uint64_t to_ns) const {
    if (!since(from_ns)) return false;
    // Spans are in the order of their ends; only the last ones can matter to what is in flight.
    for (auto span = spans_.rbegin(); span != spans_.rend() && span->end_ns >= from_ns; ++span)
      if (span->begin_ns <= to_ns) return true;
    return std::ranges::any_of(known_, [&](const LossSpan& span) {
      return span.begin_ns <= to_ns && span.end_ns >= from_ns;
    });
  }

 private:
  static constexpr std::uint32_t kDirect = 4096;
  struct Stream {
    std::uint64_t next_seq = 0;
    std::uint64_t last_ns = 0;
    std::uint64_t missing = 0;
  };

  void add(LossSpan span) {
    spans_.push_back(span);
    last_ns_ = std::max(last_ns_, span.end_ns);
  }

  Stream& direct(std::uint32_t stream) {
    if (stream >= direct_.size()) direct_.resize(stream + 1);
    return direct_[stream];
  }

  std::uint64_t open_ns_;
  std::vector<Stream> direct_;
  std::unordered_map<std::uint32_t, Stream> others_;
  std::vector<LossSpan> known_;
  std::vector<LossSpan> spans_;
  std::uint64_t last_ns_ = 0;  // when the last of all these ended
};

}  // namespace sojourn::journeys
