/* A hit of a point: stamp it, read its arguments as the site's description says, and leave it in
 * this CPU's ring.
 *
 * The programs are the same for every target. What differs from site to site (which register, which
 * offset) is data in `sites`, found by the attach cookie.
 *
 * Order of work. The stamp is taken first, so that it is nearest to the moment of the trap. The
 * gate decides next: a hit outside of it leaves no trace at all. A hit inside goes to this CPU's
 * ring, or is counted as lost (ring.bpf.h). A hit that is not wanted is counted for its site and
 * takes no position, so that it leaves no gap.
 */
#include "vmlinux.h"

#include <bpf/bpf_helpers.h>

#include "events.h"
#include "ring.bpf.h"

char LICENSE[] SEC("license") = "Dual BSD/GPL";

/* Set before loading, so that the verifier treats them as constants. */
const volatile struct {
  __u32 tgid;      /* 0: the link itself filters by process */
  __u32 max_args;  /* of all sites */
  __u32 max_tests; /* of all sites */
  __u32 of_maps;   /* sites have chains or unread marks; 0: the verifier drops that code */
  __u32 spans;     /* sites have arguments that are read together; 0: the same */
  __u32 delay_ns;  /* added to each hit, to test expensive hits */
} config = {};

/* Its size is set before loading. */
struct {
  __uint(type, BPF_MAP_TYPE_ARRAY);
  __uint(max_entries, 1);
  __type(key, __u32);
  __type(value, struct sj_site);
} sites SEC(".maps");

/* Its size is set before loading. */
struct {
  __uint(type, BPF_MAP_TYPE_ARRAY);
  __uint(max_entries, 1);
  __type(key, __u32);
  __type(value, struct sj_chain);
} chains SEC(".maps");

/* Hits that failed their site's tests, by CPU and site. The tracer reads them. */
struct {
  __uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
  __uint(max_entries, 1);
  __type(key, __u32);
  __type(value, __u64);
} filtered SEC(".maps");

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

/* Reads eight bytes in one read of constant size. Where that fails, as at the end of a page, it
 * reads only as many bytes as the value has. */
static __always_inline int read_user(__u64* value, __u64 address, __u8 bytes) {
  *value = 0;
  if (!bpf_probe_read_user(value, sizeof(*value), (const void*)address)) return 1;
  *value = 0;
  return !bpf_probe_read_user(value, ((bytes - 1) & 7) + 1, (const void*)address);
}

static __always_inline __u64 mark_fault(const struct sj_arg* arg, __u32* faults) {
  *faults |= 1U << (arg->number & (SJ_MAX_ARGS - 1));
  return 0;
}

static __noinline __u64 read_chain(const __u64* regs, const struct sj_arg* arg, __u32* faults) {
  const __u32 index = (__u32)arg->displacement;
  const struct sj_chain* chain = bpf_map_lookup_elem(&chains, &index);
  __u64 value = read_register(regs, arg->base);

  if (!chain) return mark_fault(arg, faults);
  for (__u32 i = 0; i < SJ_MAX_STEPS; i++) {
    if (i >= arg->shift) break;
    const struct sj_step* step = &chain->step[i];
    const __u32 unused_bits = (64 - (__u32)step->bits) & 63;

    value += (__u64)step->add;
    if (step->bytes && !read_user(&value, value, step->bytes)) return mark_fault(arg, faults);
    value = value >> (step->low_bit & 63) << unused_bits;
    value = step->is_signed ? (__u64)((__s64)value >> unused_bits) : value >> unused_bits;
  }
  return value;
}

static __noinline __u64 read_memory(const __u64* regs, const struct sj_arg* arg, __u32* faults) {
  __u64 value;
  const __u64 address = read_register(regs, arg->base) +
                        (read_register(regs, arg->index) << (arg->shift & 63)) +
                        (__u64)arg->displacement; /* an argument in a span has no index */

  if (!read_user(&value, address, arg->bytes)) return mark_fault(arg, faults);
  return widen(value, arg);
}

/* Memory of the target that holds several arguments, and whether it could be read. */
struct span {
  __u64 word[SJ_MAX_SPAN / 8 + 1];
  __u32 is_there;
};

/* Reads a site's span. If that fails, each argument is read separately. */
static __always_inline void read_span(const __u64* regs, const struct sj_span* from,
                                      struct span* span) {
  __u32 bytes = from->bytes;

  span->is_there = 0;
  if (!config.spans || !bytes) return;
  if (bytes > SJ_MAX_SPAN) bytes = SJ_MAX_SPAN; /* always true; the verifier needs the bound */
  __builtin_memset(span->word, 0, sizeof(span->word));
  const __u64 address = read_register(regs, from->base) + (__u64)from->displacement;
  span->is_there = !bpf_probe_read_user(span->word, bytes, (const void*)address);
}

/* Takes an argument out of the span. The verifier allows only reads of whole words of the stack. */
static __always_inline __u64 take_from_span(const struct span* span, const struct sj_arg* arg) {
  const __u32 word = (__u32)arg->shift / 8 & (SJ_MAX_SPAN / 8 - 1);
  const __u32 skipped_bits = arg->shift % 8 * 8;
  __u64 value = span->word[word] >> skipped_bits;

  if (skipped_bits) value |= span->word[word + 1] << (64 - skipped_bits);
  return widen(value, arg);
}

static __always_inline __u64 read_argument(const __u64* regs, const struct sj_arg* arg,
                                           __u32* faults) {
  if (arg->kind == SJ_ARG_REG) return widen(read_register(regs, arg->base), arg);
  if (arg->kind == SJ_ARG_CONST) return (__u64)arg->displacement;
  if (config.of_maps && arg->kind == SJ_ARG_CHAIN) return read_chain(regs, arg, faults);
  if (config.of_maps && arg->kind == SJ_ARG_FAULTS) return *faults;
  return read_memory(regs, arg, faults);
}

/* Copies the registers, because the verifier refuses a variable offset into the context. */
static __always_inline void copy_registers(struct pt_regs* ctx, __u64* regs) {
  const __u64* words = (const __u64*)ctx;

#pragma unroll
  for (__u32 i = 0; i < REGS; i++) regs[i] = words[i];
}

/* Whether a hit passes its site's tests. A value that cannot be read is 0, as in the hit. */
static __noinline int is_wanted(const __u64* regs, const struct sj_site* site) {
  __u32 faults = 0;

  for (__u32 i = 0; i < SJ_MAX_TESTS; i++) {
    if (i >= site->tests) break;
    const struct sj_test* test = &site->test[i];
    __u64 value = read_argument(regs, &site->arg[test->arg & (SJ_MAX_ARGS - 1)], &faults);

    if (test->other < SJ_MAX_ARGS) value -= read_argument(regs, &site->arg[test->other], &faults);

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
  struct span span;
  __u32 faults = 0;

  read_span(regs, &site->span, &span);
  for (__u32 i = 0; i < SJ_MAX_ARGS; i++) {
    if (i >= config.max_args || i >= args) break; /* the verifier needs the first one */
    const struct sj_arg* arg = &site->arg[i];
    hit->value[i] = config.spans && span.is_there && arg->kind == SJ_ARG_SPAN
                        ? take_from_span(&span, arg)
                        : read_argument(regs, arg, &faults);
  }
  hit->flags = faults ? SJ_HIT_FAULT : 0;
}

/* A look at the clock takes some 20 ns, so that is for 20 us at least. */
#define MAX_LOOKS 1024

static __noinline int spend(__u64 until_ns) {
  for (int looks = 0; looks < MAX_LOOKS; looks++)
    if (bpf_ktime_get_ns() >= until_ns) break;
  return 0;
}

static __always_inline int hit_point(struct pt_regs* ctx) {
  const __u64 ts_ns = bpf_ktime_get_ns();
  if (!gate_is_open(ts_ns)) return 0;

  const __u64 pid_tgid = bpf_get_current_pid_tgid();
  if (config.tgid && config.tgid != pid_tgid >> 32) return 0;

  const __u32 index = (__u32)bpf_get_attach_cookie(ctx);
  const struct sj_site* site = bpf_map_lookup_elem(&sites, &index);
  if (!site) return 0;

  __u64 regs[REGS];
  copy_registers(ctx, regs);
  if (config.max_tests && site->tests && !is_wanted(regs, site)) return count_filtered(index);

  __u64 number;
  struct sj_hit* hit = take_slot(index, &number);
  if (!hit) return 0;
  const __u32 args = site->args;

  hit->ts_ns = ts_ns;
  hit->tid = (__u32)pid_tgid;
  hit->point = (__u16)site->point;
  hit->args = (__u8)args;
  read_arguments(regs, site, hit, args);
  commit(hit, number);
  if (config.delay_ns) spend(ts_ns + config.delay_ns);
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
