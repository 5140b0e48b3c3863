/* A hit of a point: stamp it, read its arguments as the site's description says, and leave it in
 * this CPU's ring.
 *
 * The programs are the same for every target. What differs from site to site (which register, which
 * offset) is data in `sites`, found by the attach cookie.
 *
 * Order of work. The stamp is taken first, so that it is nearest to the moment of the trap. The
 * gate decides next: a hit outside of it leaves no trace at all. A hit inside takes a position in
 * the ring, or else counts as lost: for its CPU, so that the next hit's number leaves a gap, and
 * for its site. A hit that is not wanted is counted for its site and takes no position, so that it
 * leaves no gap. On a preemptible kernel another hit may come between any two steps on the same
 * CPU: hence the compare-and-swap, and hits that are in the ring in an order other than that of
 * their stamps. A loss that is preempted before it is counted leaves its gap a little later.
 *
 * The rings are plain memory that the tracer maps, not the kernel's ring buffers, because the
 * greater part of a hit's cost was waiting for memory: a ring long enough to outlast a starved
 * tracer is in no cache when the writer comes round again, and the return to the target waits for
 * the stores. So the first hit of each block touches all lines of the next: sixteen hits' misses
 * overlap in one wait. BPF has no prefetch instruction, and the kernel's ring buffers cannot be
 * touched ahead.
 */
#include "vmlinux.h"

#include <bpf/bpf_helpers.h>

#include "events.h"

char LICENSE[] SEC("license") = "Dual BSD/GPL";

/* Set before loading. The verifier takes them for constants. */
const volatile struct {
  __u32 tgid;       /* 0: the link itself filters by process */
  __u32 max_args;   /* of all sites */
  __u32 slot_bytes; /* enough for max_args */
  __u32 blocks;     /* of each ring, a power of two */
  __u32 max_tests;  /* of all sites */
} config = {};

struct sj_gate gate = {.open_ns = ~0ULL, .close_ns = ~0ULL};

/* Sizes of these maps are set before loading: a ring a CPU, its blocks one after the other, one
 * site or loss counter a site. */
struct {
  __uint(type, BPF_MAP_TYPE_ARRAY);
  __uint(map_flags, BPF_F_MMAPABLE);
  __uint(max_entries, 1);
  __type(key, __u32);
  __type(value, struct sj_cpu_ring);
} rings SEC(".maps");

struct {
  __uint(type, BPF_MAP_TYPE_ARRAY);
  __uint(map_flags, BPF_F_MMAPABLE);
  __uint(max_entries, 1);
  __uint(key_size, sizeof(__u32));
  __uint(value_size, SJ_MAX_BLOCK_BYTES);
} blocks SEC(".maps");

struct {
  __uint(type, BPF_MAP_TYPE_ARRAY);
  __uint(max_entries, 1);
  __type(key, __u32);
  __type(value, struct sj_site);
} sites SEC(".maps");

struct {
  __uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
  __uint(max_entries, 1);
  __type(key, __u32);
  __type(value, __u64);
} losses SEC(".maps");

/* Hits that were not wanted. */
struct {
  __uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
  __uint(max_entries, 1);
  __type(key, __u32);
  __type(value, __u64);
} filtered SEC(".maps");

#define ONCE(place) (*(volatile __typeof__(place)*)&(place))

#define REGS                                                                      \
  (sizeof(struct pt_regs) / 8 < SJ_MAX_REGS ? (__u32)(sizeof(struct pt_regs) / 8) \
                                            : (__u32)SJ_MAX_REGS)

static __always_inline __u64 read_register(const __u64* regs, __u8 reg) {
  return reg < REGS ? regs[reg] : 0;
}

/* Widens the low bytes of a register or of memory to 64 bits. */
static __always_inline __u64 widen(__u64 value, const struct sj_arg* arg) {
  const __u32 unused_bits = (64 - 8 * (__u32)arg->bytes) & 63;

  value = value >> (arg->low_bit & 63) << unused_bits;
  return arg->is_signed ? (__u64)((__s64)value >> unused_bits) : value >> unused_bits;
}

static __noinline __u64 read_memory(const __u64* regs, const struct sj_arg* arg, __u8* flags) {
  __u64 value = 0;
  const __u64 address = read_register(regs, arg->base) +
                        (read_register(regs, arg->index) << (arg->shift & 63)) +
                        (__u64)arg->displacement;

  /* Eight bytes in one constant-size read where they are there; the last bytes of a page are read
   * in the argument's own size. */
  if (bpf_probe_read_user(&value, sizeof(value), (const void*)address)) {
    value = 0;
    if (bpf_probe_read_user(&value, ((arg->bytes - 1) & 7) + 1, (const void*)address)) {
      *flags |= SJ_HIT_FAULT;
      return 0;
    }
  }
  return widen(value, arg);
}

static __always_inline __u64 read_argument(const __u64* regs, const struct sj_arg* arg,
                                           __u8* flags) {
  if (arg->kind == SJ_ARG_REG) return widen(read_register(regs, arg->base), arg);
  if (arg->kind == SJ_ARG_CONST) return (__u64)arg->displacement;
  return read_memory(regs, arg, flags);
}

static __noinline int count_loss(struct sj_cpu_ring* ring, __u32 site) {
  __u64* lost = bpf_map_lookup_elem(&losses, &site);

  __sync_fetch_and_add(&ring->lost, 1);
  if (lost) __sync_fetch_and_add(lost, 1);
  return 0;
}

static __always_inline void* block_of(__u32 cpu, __u64 position) {
  const __u32 index =
      cpu * config.blocks + ((__u32)(position / SJ_BLOCK_SLOTS) & (config.blocks - 1));

  return bpf_map_lookup_elem(&blocks, &index);
}

static __always_inline void touch_block(__u32 cpu, __u64 position) {
  const char* block = block_of(cpu, position);

  if (!block) return;
#pragma unroll
  for (__u32 at = 0; at < SJ_MAX_BLOCK_BYTES; at += SJ_CACHE_LINE) {
    if (at >= SJ_BLOCK_SLOTS * config.slot_bytes) break;
    (void)ONCE(block[at]);
  }
}

struct place {
  __u64 position;
  __u64 number;
};

/* The loads' order matters: a loss that is seen here came before the swap, so numbers grow with
 * positions. A try fails when another hit came in between: on one CPU and with preemption only.
 * Four failures in a row count as a loss, for the verifier wants an end. */
static __always_inline int take_position(struct sj_cpu_ring* ring, struct place* place) {
  for (int tries = 0; tries < 4; tries++) {
    const __u64 head = ONCE(ring->head);

    if (head - ONCE(ring->tail) >= SJ_BLOCK_SLOTS * config.blocks) return 0;
    place->position = head;
    place->number = head + ONCE(ring->lost) + 1;
    if (__sync_val_compare_and_swap(&ring->head, head, head + 1) == head) return 1;
  }
  return 0;
}

/* All of the hit before its commit, for a reader on another CPU. */
static __always_inline void commit(struct sj_hit* hit, __u64 number) {
#ifdef __TARGET_ARCH_x86
  asm volatile("" ::: "memory"); /* stores stay in order */
  ONCE(hit->commit) = number;
#else
  __sync_lock_test_and_set(&hit->commit, number); /* BPF's exchange is a full barrier */
#endif
}

/* For the verifier refuses a variable offset into the context. */
static __always_inline void copy_registers(struct pt_regs* ctx, __u64* regs) {
  const __u64* words = (const __u64*)ctx;

#pragma unroll
  for (__u32 i = 0; i < REGS; i++) regs[i] = words[i];
}

/* What cannot be read is 0 here, as it is in the hit. */
static __noinline int is_wanted(const __u64* regs, const struct sj_site* site) {
  __u8 flags = 0;

  for (__u32 i = 0; i < SJ_MAX_TESTS; i++) {
    if (i >= site->tests) break;
    const struct sj_test* test = &site->test[i];
    const __u64 value = read_argument(regs, &site->arg[test->arg & (SJ_MAX_ARGS - 1)], &flags);

    if ((value - test->low <= test->width) == (test->is_negated != 0)) return 0;
  }
  return 1;
}

static __noinline int count_filtered(__u32 site) {
  __u64* count = bpf_map_lookup_elem(&filtered, &site);

  if (count) __sync_fetch_and_add(count, 1);
  return 0;
}

static __always_inline void read_arguments(const __u64* regs, const struct sj_site* site,
                                           struct sj_hit* hit, __u32 args) {
  __u8 flags = 0;

  for (__u32 i = 0; i < SJ_MAX_ARGS; i++) {
    if (i >= config.max_args || i >= args) break; /* the first is for the verifier's eyes */
    hit->value[i] = read_argument(regs, &site->arg[i], &flags);
  }
  hit->flags = flags;
}

static __always_inline int hit_point(struct pt_regs* ctx) {
  const __u64 ts_ns = bpf_ktime_get_ns();
  if (ts_ns < gate.open_ns || ts_ns >= gate.close_ns) return 0;

  const __u64 pid_tgid = bpf_get_current_pid_tgid();
  if (config.tgid && config.tgid != pid_tgid >> 32) return 0;

  const __u32 index = (__u32)bpf_get_attach_cookie(ctx);
  const __u32 cpu = bpf_get_smp_processor_id();
  const struct sj_site* site = bpf_map_lookup_elem(&sites, &index);
  struct sj_cpu_ring* ring = bpf_map_lookup_elem(&rings, &cpu);
  if (!site || !ring) return 0;

  __u64 regs[REGS];
  copy_registers(ctx, regs);
  if (config.max_tests && site->tests && !is_wanted(regs, site)) return count_filtered(index);

  struct place place;
  if (!take_position(ring, &place)) return count_loss(ring, index);
  if (place.position % SJ_BLOCK_SLOTS == 0) touch_block(cpu, place.position + SJ_BLOCK_SLOTS);

  char* block = block_of(cpu, place.position);
  if (!block) return 0; /* never: the index is below the map's size */
  struct sj_hit* hit =
      (struct sj_hit*)(block + place.position % SJ_BLOCK_SLOTS * config.slot_bytes);
  const __u32 args = site->args;

  hit->ts_ns = ts_ns;
  hit->tid = (__u32)pid_tgid;
  hit->point = (__u16)site->point;
  hit->args = (__u8)args;
  read_arguments(regs, site, hit, args);
  commit(hit, place.number);
  return 0;
}

SEC("uprobe.multi")
int hit_multi(struct pt_regs* ctx) {
  return hit_point(ctx);
}

SEC("uprobe")
int hit_perf(struct pt_regs* ctx) {
  return hit_point(ctx);
}
