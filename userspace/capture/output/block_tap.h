// Receives everything that a capture's store receives: items, and events as blocks. A block is
// packed once for both. The tap goes on even if the store has failed. The sink's thread calls it
// and waits for it, so it must not block.
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

  virtual void take(const Item& item) = 0;  // an item other than events
  // A block of events, its header first. Returns whether any reader will get it.
  virtual bool take_block(std::span<const std::uint8_t> block) = 0;
  virtual void finish() = 0;  // no call follows
};

}  // namespace sojourn::capture
