// A streamed trace in several parts. A reader that lost the connection to a capture connects again,
// and gets another part, which counts from its own beginning. This joins the parts' accounts: the
// marks of the first part, and a ledger that includes the events between two parts. Plain data;
// hostile counts make wrong sums, and nothing worse.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <vector>

#include "analysis/model/capture_info.h"

namespace sojourn::trace {

class Parts {
 public:
  // Begins a part. Returns false if it belongs to another capture.
  bool begin(model::Origin origin);
  void count_events(std::uint32_t stream, std::uint64_t events);

  // Changes a block of this part so that it describes the whole trace.
  void adjust(model::Capture& capture);
  void adjust(model::Ledger& ledger);

  bool has_begun() const { return origin_.has_value(); }
  bool has_several() const { return parts_ > 1; }

 private:
  void settle(const model::Origin& next);

  std::optional<model::Origin> origin_;  // of this part
  std::uint64_t parts_ = 0;
  std::map<std::uint32_t, std::uint64_t> events_;  // of this part, by stream
  model::Ledger newest_ledger_;                    // this part's newest ledger
  model::Ledger losses_before_;  // the losses of the earlier parts, and those between the parts
  std::uint64_t open_ns_ = 0;    // the first part's; 0: not known yet
  std::vector<std::uint64_t> stream_first_;  // the first part's
};

}  // namespace sojourn::trace
