// Sees what a capture's store takes, as it takes it: items, and events as blocks, which are packed
// once for both. The sink's thread calls it, and waits for it: it never blocks.
#pragma once

#include <cstdint>
#include <span>

#include "userspace/capture/output/item_store.h"

namespace sojourn::capture {

class BlockTap {
 public:
  BlockTap() = default;
  BlockTap(const BlockTap&) = delete;
  BlockTap& operator=(const BlockTap&) = delete;
  virtual ~BlockTap() = default;

  virtual void take(const Item& item) = 0;                           // no events
  virtual void take_block(std::span<const std::uint8_t> block) = 0;  // of events, header first
  virtual void finish() = 0;  // the store is complete, and nothing follows
};

}  // namespace sojourn::capture
