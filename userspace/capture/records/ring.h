// The reading end of one CPU's ring; bpf/events.h has the layout and the protocol. It borrows the
// memory, which the BPF programs fill meanwhile. Records come from our own programs, yet their
// sizes are checked. One thread owns a RingReader.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "bpf/events.h"

namespace sojourn::capture {

// One CPU's ring as it lies in memory.
struct Ring {
  sj_cpu_ring* control = nullptr;
  std::byte* slots = nullptr;
  std::uint32_t slot_count = 0;  // a power of two, at least two
  std::uint32_t slot_bytes = 0;
};

class RingReader {
 public:
  explicit RingReader(const Ring& ring) : ring_(ring), position_(ring.control->tail) {}

  void mark() { mark_ = std::atomic_ref(ring_.control->head).load(std::memory_order_acquire); }
  bool is_past_mark() const { return position_ >= mark_; }

  // Calls take(const sj_hit&, number from 0) for each hit, in the ring's order, and gives their
  // slots back. At most `most` hits; true: there may be more.
  template <class Take>
  bool consume(std::size_t most, Take take) {
    const std::uint64_t head = std::atomic_ref(ring_.control->head).load(std::memory_order_acquire);
    for (std::size_t taken = 0; taken < most; ++taken) {
      const sj_hit* hit = position_ == head ? nullptr : committed();
      if (hit == nullptr) {
        give_back();
        return false;
      }
      if (SJ_HIT_HEADER_BYTES + sizeof(hit->value[0]) * hit->args <= ring_.slot_bytes)
        take(*hit, number_ - 1);
      // Seldom enough that the writer's copy of the line stays with it, often enough that a full
      // ring opens while it is read.
      if (++position_ % kGiveBackEvery == 0) give_back();
    }
    give_back();
    return true;
  }

 private:
  static constexpr std::uint64_t kGiveBackEvery = 256;

  // The hit at the position, null while its writer is not done.
  const sj_hit* committed() {
    const std::size_t slot = position_ & (ring_.slot_count - 1);
    auto* hit = reinterpret_cast<sj_hit*>(ring_.slots + slot * ring_.slot_bytes);
    const std::uint64_t number = std::atomic_ref(hit->commit).load(std::memory_order_acquire);
    if (number <= number_) return nullptr;
    number_ = number;
    return hit;
  }

  void give_back() {
    std::atomic_ref(ring_.control->tail).store(position_, std::memory_order_release);
  }

  Ring ring_;
  std::uint64_t position_;
  std::uint64_t mark_ = 0;    // a position
  std::uint64_t number_ = 0;  // of the hit before the position
};

}  // namespace sojourn::capture
