/* A hit of a point: stamp it, read its arguments as the site's description says, and push the
 * record into this CPU's ring buffer.
 *
 * The programs are the same for every target. What differs from site to site (which register, which
 * offset) is data in `sites`, found by the attach cookie.
 *
 * Order of work. The stamp is taken first, so that it is nearest to the moment of the trap. The
 * gate decides next: a hit outside of it leaves no trace at all, not even a sequence number. A hit
 * inside takes a sequence number before anything can fail; so a number that is missing from the
 * stream is a lost hit, and `losses` says of which site. On a preemptible kernel another hit may
 * come between these steps on the same CPU: hence the atomic increments, and records that are in
 * the ring in an order other than that of their stamps.
 */
#include "vmlinux.h"

#include <bpf/bpf_helpers.h>

#include "events.h"

char LICENSE[] SEC("license") = "Dual BSD/GPL";

/* Set before loading. */
const volatile struct {
  __u32 tgid; /* 0: the link itself filters by process */
} config = {};

struct sj_gate gate = {.open_ns = ~0ULL, .close_ns = ~0ULL};

struct ring {
  __uint(type, BPF_MAP_TYPE_RINGBUF);
  __uint(max_entries, 4096);
};

/* Sizes of these maps are set before loading: one ring a CPU, one site or loss counter a site. */
struct {
  __uint(type, BPF_MAP_TYPE_ARRAY_OF_MAPS);
  __uint(max_entries, 1);
  __type(key, __u32);
  __array(values, struct ring);
} rings SEC(".maps");

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
} sequence SEC(".maps");

struct {
  __uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
  __uint(max_entries, 1);
  __type(key, __u32);
  __type(value, __u64);
} losses SEC(".maps");

#define REG_BYTES \
  (sizeof(struct pt_regs) < SJ_MAX_REGS * 8 ? sizeof(struct pt_regs) : SJ_MAX_REGS * 8)

static __always_inline __u64 read_register(const __u64* regs, __u8 reg) {
  return reg < REG_BYTES / 8 ? regs[reg] : 0;
}

/* Widens the low bytes of a register or of memory to 64 bits. */
static __always_inline __u64 widen(__u64 value, const struct sj_arg* arg) {
  const __u32 unused_bits = (64 - 8 * (__u32)arg->bytes) & 63;

  value = value >> (arg->low_bit & 63) << unused_bits;
  return arg->is_signed ? (__u64)((__s64)value >> unused_bits) : value >> unused_bits;
}

static __always_inline __u64 read_argument(const __u64* regs, const struct sj_arg* arg,
                                           __u8* flags) {
  __u64 value = 0;

  if (arg->kind == SJ_ARG_REG) return widen(read_register(regs, arg->base), arg);
  if (arg->kind == SJ_ARG_CONST) return (__u64)arg->displacement;

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

static __always_inline void count_loss(__u32 site) {
  __u64* lost = bpf_map_lookup_elem(&losses, &site);

  if (lost) __sync_fetch_and_add(lost, 1);
}

static __always_inline int hit_point(struct pt_regs* ctx) {
  struct sj_hit hit = {}; /* kernels before 6.3 refuse to push bytes that were never written */
  __u64 regs[REG_BYTES / 8];
  const __u32 zero = 0;

  hit.ts_ns = bpf_ktime_get_ns();
  if (hit.ts_ns < gate.open_ns || hit.ts_ns >= gate.close_ns) return 0;

  const __u64 pid_tgid = bpf_get_current_pid_tgid();
  if (config.tgid && config.tgid != pid_tgid >> 32) return 0;

  const __u32 index = (__u32)bpf_get_attach_cookie(ctx);
  const struct sj_site* site = bpf_map_lookup_elem(&sites, &index);
  __u64* next = bpf_map_lookup_elem(&sequence, &zero);
  if (!site || !next) return 0;

  hit.seq = __sync_fetch_and_add(next, 1);
  hit.tid = (__u32)pid_tgid;
  hit.point = (__u16)site->point;

  __u32 args = site->args;
  if (args > SJ_MAX_ARGS) args = SJ_MAX_ARGS;
  hit.args = (__u8)args;

  /* The registers are copied once: the verifier refuses a variable offset into the context. */
  bpf_probe_read_kernel(regs, sizeof(regs), ctx);
  for (__u32 i = 0; i < SJ_MAX_ARGS; i++) {
    if (i >= args) break;
    hit.value[i] = read_argument(regs, &site->arg[i], &hit.flags);
  }

  const __u32 cpu = bpf_get_smp_processor_id();
  void* ring = bpf_map_lookup_elem(&rings, &cpu);
  /* No wakeup: the reader polls on a timer, a wakeup would cost the target microseconds. */
  if (!ring || bpf_ringbuf_output(ring, &hit, SJ_HIT_HEADER_BYTES + 8 * args, BPF_RB_NO_WAKEUP))
    count_loss(index);
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
