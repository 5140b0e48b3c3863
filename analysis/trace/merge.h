// Merges the events of many blocks in time order. Each block is a run, which is opened and sorted
// when time reaches its first event. So memory holds the blocks that overlap in time, and events
// that were written late, by any amount, still come in order.
#pragma once

#include <cstddef>
#include <functional>
#include <vector>

#include "analysis/base/result.h"
#include "analysis/model/event.h"
#include "analysis/trace/reader.h"

namespace sojourn::trace {

struct MergeStatistics {
  std::size_t max_open_blocks = 0;
};

// `load` fills in a block's events in the stream's order, or leaves the batch empty for a block
// that must be left out. Equal times: by stream, then in the stream's order. `consume` returns
// false to stop, and may change the batch or move it away. Fails if more blocks overlap than in any
// real file.
Result<MergeStatistics> merge_blocks(
    const std::vector<BlockInfo>& blocks,
    const std::function<void(const BlockInfo&, model::EventBatch&)>& load,
    const std::function<bool(model::EventBatch&)>& consume);

}  // namespace sojourn::trace
