/* The writing end of the rings: one a CPU, memory that the tracer maps. events.h has the protocol
 * and userspace/capture/records/ring.h the reading end. Included by each object that records hits,
 * which so has a gate, rings and loss counters of its own.
 *
 * A hit inside the gate takes a position in the ring, or else counts as lost: for its CPU, so that
 * the next hit's number leaves a gap, and for its kind. Another hit may come between any two steps
 * on the same CPU (an interrupt's, or any on a preemptible kernel): hence the compare-and-swap, and
 * hits that are in the ring in an order other than that of their stamps. A loss that is preempted
 * before it is counted leaves its gap a little later.
 *
 * The rings are plain memory, not the kernel's ring buffers, because the greater part of a hit's
 * cost was waiting for memory: a ring long enough to outlast a starved tracer is in no cache when
 * the writer comes round again, and the return to the target waits for the stores. So the first hit
 * of each block touches all lines of the next: sixteen hits' misses overlap in one wait. BPF has no
 * prefetch instruction, and the kernel's ring buffers cannot be touched ahead.
 */
#ifndef SJ_BPF_RING_BPF_H
#define SJ_BPF_RING_BPF_H

#include <bpf/bpf_helpers.h>

#include "events.h"

/* Set before loading, so that the verifier treats them as constants. */
const volatile struct {
  __u32 slot_bytes;   /* enough for the longest hit */
  __u32 blocks;       /* of each ring, a power of two */
  __u32 piece_blocks; /* of each piece, a power of two */
} ring_shape = {};

struct sj_gate gate = {.open_ns = ~0ULL, .close_ns = ~0ULL};

/* Sizes are set before loading. `rings` has one ring for each CPU, `blocks` their slots: the tracer
 * maps both. `losses` has one counter for each CPU and kind of hit, which the tracer reads.
 *
 * The blocks of all rings lie in pieces, array maps that the tracer makes and enters. A kernel that
 * does not preempt itself keeps real-time threads from the CPU while it makes a map: some
 * milliseconds for all the blocks, a fraction of one for a piece. */
struct {
  __uint(type, BPF_MAP_TYPE_ARRAY);
  __uint(map_flags, BPF_F_MMAPABLE);
  __uint(max_entries, 1);
  __type(key, __u32);
  __type(value, struct sj_cpu_ring);
} rings SEC(".maps");

struct {
  __uint(type, BPF_MAP_TYPE_ARRAY_OF_MAPS);
  __uint(max_entries, 1);
  __type(key, __u32);
  __type(value, __u32);
} blocks SEC(".maps");

struct {
  __uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
  __uint(max_entries, 1);
  __type(key, __u32);
  __type(value, __u64);
} losses SEC(".maps");

#define ONCE(place) (*(volatile __typeof__(place)*)&(place))

static __always_inline int gate_is_open(__u64 ts_ns) {
  return ts_ns >= gate.open_ns && ts_ns < gate.close_ns;
}

static __noinline int count_loss(struct sj_cpu_ring* ring, __u32 kind) {
  __u64* lost = bpf_map_lookup_elem(&losses, &kind);

  __sync_fetch_and_add(&ring->lost, 1);
  if (lost) __sync_fetch_and_add(lost, 1);
  return 0;
}

static __always_inline void* block_of(__u32 cpu, __u64 position) {
  const __u32 index =
      cpu * ring_shape.blocks + ((__u32)(position / SJ_BLOCK_SLOTS) & (ring_shape.blocks - 1));
  const __u32 number = index / ring_shape.piece_blocks;
  const __u32 in_piece = index % ring_shape.piece_blocks;
  void* piece = bpf_map_lookup_elem(&blocks, &number);

  return piece ? bpf_map_lookup_elem(piece, &in_piece) : 0;
}

static __always_inline void touch_block(__u32 cpu, __u64 position) {
  const char* block = block_of(cpu, position);

  if (!block) return;
#pragma unroll
  for (__u32 at = 0; at < SJ_MAX_BLOCK_BYTES; at += SJ_CACHE_LINE) {
    if (at >= SJ_BLOCK_SLOTS * ring_shape.slot_bytes) break;
    (void)ONCE(block[at]);
  }
}

struct place {
  __u64 position;
  __u64 number;
};

/* The order of the loads matters: a loss that is seen here came before the swap, so numbers grow
 * with positions. An attempt fails when another hit came in between. Four failures in a row count
 * as a loss, because the verifier demands a bounded loop. */
static __always_inline int take_position(struct sj_cpu_ring* ring, struct place* place) {
  for (int tries = 0; tries < 4; tries++) {
    const __u64 head = ONCE(ring->head);

    if (head - ONCE(ring->tail) >= SJ_BLOCK_SLOTS * ring_shape.blocks) return 0;
    place->position = head;
    place->number = head + ONCE(ring->lost) + 1;
    if (__sync_val_compare_and_swap(&ring->head, head, head + 1) == head) return 1;
  }
  return 0;
}

/* The slot to fill for a hit of a kind, and its number for commit(); null: the hit is lost, and
 * counted. */
static __always_inline struct sj_hit* take_slot(__u32 kind, __u64* number) {
  const __u32 cpu = bpf_get_smp_processor_id();
  struct sj_cpu_ring* ring = bpf_map_lookup_elem(&rings, &cpu);
  struct place place;
  char* block;

  if (!ring) return 0;
  if (!take_position(ring, &place)) {
    count_loss(ring, kind);
    return 0;
  }
  if (place.position % SJ_BLOCK_SLOTS == 0) touch_block(cpu, place.position + SJ_BLOCK_SLOTS);
  block = block_of(cpu, place.position);
  if (!block) return 0; /* cannot happen: the index is below the map's size */
  *number = place.number;
  return (struct sj_hit*)(block + place.position % SJ_BLOCK_SLOTS * ring_shape.slot_bytes);
}

/* Publishes the hit: a reader on another CPU sees all of it before its commit. */
static __always_inline void commit(struct sj_hit* hit, __u64 number) {
#ifdef __TARGET_ARCH_x86
  asm volatile("" ::: "memory"); /* stores stay in order */
  ONCE(hit->commit) = number;
#else
  __sync_lock_test_and_set(&hit->commit, number); /* BPF's exchange is a full barrier */
#endif
}

#endif
