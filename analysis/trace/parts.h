// A streamed trace in several parts: whoever reads a capture's stream and lost the connection came
// again, and what it got then follows what it has. Each part counts from its own beginning. This
// makes one account of them: the marks of the first part, and a ledger that has what passed between
// two parts. Plain data; hostile counts make wrong sums, and nothing worse.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <vector>

#include "analysis/model/capture_info.h"

namespace sojourn::trace {

class Parts {
 public:
  // A part begins. False: it is of another capture, and follows nothing.
  bool begin(model::Origin origin);
  void count_events(std::uint32_t stream, std::uint64_t events);

  // What a block of this part says, for the whole.
  void adjust(model::Capture& capture);
  void adjust(model::Ledger& ledger);

  bool has_begun() const { return origin_.has_value(); }
  bool has_several() const { return parts_ > 1; }

 private:
  void settle(const model::Origin& next);

  std::optional<model::Origin> origin_;  // of this part
  std::uint64_t parts_ = 0;
  std::map<std::uint32_t, std::uint64_t> events_;  // of this part, by stream
  model::Ledger said_;                             // by this part, lastly
  model::Ledger before_;                           // of the parts before and what lies between them
  std::uint64_t open_ns_ = 0;                      // of the first part; 0: not known yet
  std::vector<std::uint64_t> stream_first_;        // of the first part
};

}  // namespace sojourn::trace
