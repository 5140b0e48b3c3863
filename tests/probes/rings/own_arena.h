// This process's own arena, driven as a collector drives it from outside, in the plainest way. The
// reader that users run is in userspace/capture; this one shares only the ABI header with it, so
// that the two cannot be wrong together. One thread owns an OwnArena.
#pragma once

#include <cstdint>
#include <cstring>
#include <map>
#include <vector>

#include <sojourn/ring_abi.h>

extern "C" {
#include "probes/src/rings.h"
}

namespace sojourn::test {

// Every record of these tests begins with one of these as its first value, which says its size.
enum Kind : std::uint8_t { kSmall = 1, kLarge = 2 };

struct Record {
  std::uint64_t stamp = 0;
  std::uint32_t id = 0;
  Kind kind = kSmall;
  std::uint64_t number = 0;
};

inline std::uint64_t stamp() {
#if defined(__x86_64__)
  return __builtin_ia32_rdtsc();
#else
  std::uint64_t ticks = 0;
  asm volatile("mrs %0, cntvct_el0" : "=r"(ticks));
  return ticks;
#endif
}

struct Stream {
  std::vector<Record> records;
  std::uint64_t lost = 0;
  bool damaged = false;
};

class OwnArena {
 public:
  explicit OwnArena(std::uint32_t mode = SJ_RING_STOP, std::uint64_t ring_bytes = 0)
      : arena_(sj_runtime.arena) {
    arena_->control.mode = mode;
    arena_->control.ring_bytes = ring_bytes;
    arena_->control.dead_after = 0;
    arena_->control.open_stamp = 0;
    arena_->control.close_stamp = UINT64_MAX;
    __atomic_add_fetch(&arena_->control.session, 1, __ATOMIC_SEQ_CST);
    for (std::uint64_t slot = 0; slot < arena_->slots_used; ++slot) retire(slot);
    flag(SJ_FLAG_RING);
  }
  OwnArena(const OwnArena&) = delete;
  OwnArena& operator=(const OwnArena&) = delete;
  ~OwnArena() {
    flag(0);
    drain();
    arena_->control.memory_ceiling = 0;
    __atomic_add_fetch(&arena_->control.session, 1, __ATOMIC_SEQ_CST);
  }

  sj_arena& arena() { return *arena_; }

  void flag(std::uint16_t flags) {
    auto* first = reinterpret_cast<std::uint16_t*>(arena_->flags_address);
    for (std::uint64_t i = 0; i < arena_->flags_bytes / 2; ++i)
      __atomic_store_n(&first[i], flags, __ATOMIC_SEQ_CST);
  }

  // Takes everything that is whole; by owner.
  void drain() {
    const std::uint64_t used = __atomic_load_n(&arena_->slots_used, __ATOMIC_ACQUIRE);
    for (std::uint64_t slot = 0; slot < used; ++slot) drain(slot);
    __atomic_store_n(&arena_->control.heartbeat, stamp(), __ATOMIC_RELAXED);
  }

  const std::map<std::uint64_t, Stream>& streams() const { return streams_; }

  // Returns the records that flight mode has kept in a ring, from the oldest whole chunk on.
  std::vector<Record> newest(const sj_ring& ring) const {
    const auto capacity = static_cast<std::int64_t>(ring.mask + 1);
    const std::int64_t oldest = ring.cursor + SJ_RECORD_MAX_BYTES - capacity;
    std::int64_t from = ring.cursor;
    for (const std::int64_t chunk : ring.chunk)
      if (chunk >= oldest && chunk < from) from = chunk;
    std::vector<Record> records;
    while (from < ring.cursor) {
      records.push_back(read(ring, from));
      from += bytes(records.back());
    }
    return records;
  }

  static std::int64_t bytes(const Record& record) { return record.kind == kLarge ? 88 : 24; }

 private:
  static Record read(const sj_ring& ring, std::int64_t position) {
    const char* at = reinterpret_cast<const char*>(&ring) + SJ_RING_DATA +
                     (static_cast<std::uint64_t>(position) & ring.mask);
    Record record;
    std::memcpy(&record.stamp, at, 8);
    std::memcpy(&record.id, at + 8, 4);
    std::memcpy(&record.kind, at + 12, 1);
    std::memcpy(&record.number, at + 13, 8);
    return record;
  }

  void retire(std::uint64_t slot) {
    sj_ring* const ring = sj_ring_at(slot);
    if (ring->owner == 0) return;
    __atomic_store_n(&ring->retire, 1, __ATOMIC_SEQ_CST);
    __atomic_store_n(&ring->limit, SJ_RING_CLOSED, __ATOMIC_SEQ_CST);
    tails_[slot] = ring->cursor;
  }

  void drain(std::uint64_t slot) {
    sj_ring* const ring = sj_ring_at(slot);
    if (__atomic_load_n(&sj_runtime.mapped[slot], __ATOMIC_ACQUIRE) == 0) return;
    const std::uint64_t session = __atomic_load_n(&ring->session, __ATOMIC_ACQUIRE);
    const std::int64_t cursor = __atomic_load_n(&ring->cursor, __ATOMIC_ACQUIRE);
    const std::uint64_t owner = __atomic_load_n(&ring->owner, __ATOMIC_ACQUIRE);
    if (ring->retire != 0) {
      if (owner == 0) __atomic_store_n(&sj_runtime.slots[slot].taken, 0, __ATOMIC_RELEASE);
      return;
    }
    if (owner == 0 || session != arena_->control.session || ring->mode != SJ_RING_STOP) return;
    const auto capacity = static_cast<std::int64_t>(ring->mask + 1);
    const std::int64_t limit = __atomic_load_n(&ring->limit, __ATOMIC_ACQUIRE);
    Stream& stream = streams_[owner];
    std::int64_t tail = limit - capacity;
    while (tail < cursor) {
      const Record record = read(*ring, tail);
      if ((record.kind != kSmall && record.kind != kLarge) || tail + bytes(record) > cursor) {
        stream.damaged = true;
        break;
      }
      stream.records.push_back(record);
      tail += bytes(record);
    }
    const std::uint64_t lost = __atomic_load_n(&ring->lost, __ATOMIC_ACQUIRE);
    stream.lost += lost - lost_[slot];
    lost_[slot] = lost;
    __atomic_store_n(&ring->limit, cursor + capacity, __ATOMIC_RELEASE);
  }

  sj_arena* arena_;
  std::map<std::uint64_t, Stream> streams_;
  std::map<std::uint64_t, std::uint64_t> lost_;
  std::map<std::uint64_t, std::int64_t> tails_;
};

}  // namespace sojourn::test
