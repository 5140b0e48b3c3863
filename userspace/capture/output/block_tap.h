// Sees what a capture's store takes: items, and events as blocks, which are packed once for both.
// It goes on where the store has failed. The sink's thread calls it, and waits for it: it never
// blocks.
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

  virtual void take(const Item& item) = 0;  // no events
  // Of events, header first. Whether somebody will read it.
  virtual bool take_block(std::span<const std::uint8_t> block) = 0;
  virtual void finish() = 0;  // nothing follows
};

}  // namespace sojourn::capture
