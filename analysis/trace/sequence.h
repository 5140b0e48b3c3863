// The set of sequence numbers of one stream that are in the file. Numbers may come in any order, as
// blocks do. Memory grows with the number of gaps. One thread owns it.
#pragma once

#include <cstdint>
#include <map>
#include <vector>

#include "analysis/model/event.h"
#include "analysis/trace/reader.h"

namespace sojourn::trace {

class SequenceCheck {
 public:
  void add(const model::EventBatch& events);

  // The numbers from `first` to the largest seen that were not seen. Losses after the last event
  // are in the ledger only.
  void append_gaps(std::uint32_t stream, std::uint64_t first, std::vector<Gap>& gaps) const;

 private:
  struct Span {
    std::uint64_t last = 0;
    std::uint64_t first_ts_ns = 0;
    std::uint64_t last_ts_ns = 0;
  };

  void add_one(std::uint64_t seq, std::uint64_t ts_ns);

  std::map<std::uint64_t, Span> spans_;  // by their first number; never adjacent
};

}  // namespace sojourn::trace
