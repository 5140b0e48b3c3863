// Packs events into blocks that stand alone. A block can be written at once, or kept and written
// later into any file whose schema begins with the one that it was packed with. One thread owns a
// BlockPacker.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "analysis/base/result.h"
#include "analysis/model/event.h"
#include "analysis/model/schema.h"
#include "analysis/trace/block.h"
#include "analysis/trace/codec.h"

namespace sojourn::trace {

class BlockPacker {
 public:
  // All events of the batch are of one stream, in that stream's order. Gives each block's bytes,
  // header first, valid until `take` returns.
  Result<void> pack(const model::EventBatch& events, const model::Schema& schema,
                    const std::function<Result<void>(std::span<const std::uint8_t>)>& take);

 private:
  Result<void> check(const model::EventBatch& batch, const model::Schema& schema) const;

  BlockMaker maker_;
  EventEncoder encoder_;
  std::vector<std::uint8_t> columns_;
  std::vector<std::size_t> fields_;  // of each point; a schema only grows
};

}  // namespace sojourn::trace
