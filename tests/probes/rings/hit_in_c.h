// The hit of detail/ring_write.h, step by step in C++, for the thread sanitizer. The sanitizer does
// not see the assembler statement that orders a record before its cursor. The rings, the slow path
// and the reader are the real ones.
#pragma once

#include <cstdint>
#include <cstring>

#include <sojourn/detail/ring_write.h>

#include "tests/probes/rings/own_arena.h"

namespace sojourn::test {

#ifdef SJ_FORGET_RELEASE
constexpr int kShow = __ATOMIC_RELAXED;  // the order that the sanitizer must complain about
#else
constexpr int kShow = __ATOMIC_RELEASE;
#endif

// False: there is no room, and the loss is counted.
inline bool make_room(std::uint64_t bytes, std::uint64_t id) {
  std::uint64_t again = 0;
  asm volatile(
      "leaq -128(%%rsp), %%rsp\n"
      "pushq %[id]\n"
      "pushq %[bytes]\n"
      "call sj_ring_slow\n"
      "popq %[again]\n"
      "leaq 136(%%rsp), %%rsp\n"
      : [again] "=r"(again)
      : [id] "r"(id), [bytes] "r"(bytes)
      : "memory", "cc");
  return again != 0;
}

inline void hit_in_c(std::uint32_t id, std::uint64_t number) {
  constexpr std::int64_t kBytes = 24;
  std::int64_t from = 0;
  std::uint64_t now = 0;
  sj_ring* ring = nullptr;
  sj_ring_private* own = nullptr;
  for (;;) {
    ring = sj_ring_self;
    own = reinterpret_cast<sj_ring_private*>(reinterpret_cast<char*>(ring) + SJ_RING_PRIVATE);
    from = __atomic_load_n(&own->reserved, __ATOMIC_RELAXED);
    if (__atomic_load_n(&own->alive, __ATOMIC_RELAXED) == 0 ||
        from + kBytes > __atomic_load_n(&ring->limit, __ATOMIC_ACQUIRE)) {
      if (make_room(kBytes, id)) continue;
      return;
    }
    now = stamp();
    if (__atomic_compare_exchange_n(&own->reserved, &from, from + kBytes, false, __ATOMIC_RELAXED,
                                    __ATOMIC_RELAXED))
      break;
  }
  const std::uint64_t mask = __atomic_load_n(&ring->mask, __ATOMIC_RELAXED);
  char* const at =
      reinterpret_cast<char*>(ring) + SJ_RING_DATA + (static_cast<std::uint64_t>(from) & mask);
  const std::uint8_t kind = kSmall;
  std::memcpy(at, &now, sizeof now);
  std::memcpy(at + 8, &id, sizeof id);
  std::memcpy(at + 12, &kind, sizeof kind);
  std::memcpy(at + 13, &number, sizeof number);

  if (__atomic_load_n(&ring->cursor, __ATOMIC_RELAXED) != from) return;
  std::int64_t shown = from + kBytes;
  __atomic_store_n(&ring->cursor, shown, kShow);
  for (;;) {
    const std::int64_t reserved = __atomic_load_n(&own->reserved, __ATOMIC_RELAXED);
    if (reserved == shown) return;
    if (!__atomic_compare_exchange_n(&ring->cursor, &shown, reserved, false, kShow,
                                     __ATOMIC_RELAXED))
      return;
    shown = reserved;
  }
}

}  // namespace sojourn::test
