// Events of one stream as columns of variable-length integers, ready to be compressed. Encoding and
// decoding are each other's inverse; decoding trusts nothing and needs the schema to know how many
// values an event has.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "analysis/base/result.h"
#include "analysis/model/event.h"
#include "analysis/model/schema.h"

namespace sojourn::trace {

// What an events block's header says, which its columns build on.
struct BlockSummary {
  std::uint32_t stream = 0;
  std::uint32_t events = 0;
  std::uint64_t first_seq = 0;
  std::uint64_t last_seq = 0;
  std::uint64_t min_ts_ns = 0;
  std::uint64_t max_ts_ns = 0;
};

BlockSummary summarise(const model::EventBatch& batch);

// Appends the columns to `bytes`. The batch fits the schema.
void encode(const model::EventBatch& batch, const model::Schema& schema,
            std::vector<std::uint8_t>& bytes);

// Appends the block's events to `into`.
Result<void> decode(std::span<const std::uint8_t> bytes, const BlockSummary& summary,
                    const model::Schema& schema, model::EventBatch& into);

}  // namespace sojourn::trace
