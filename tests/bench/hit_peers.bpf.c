/* The programs with which sojourn's cost of a hit is compared: an empty one, and the usual one,
 * with libbpf's USDT support and one ring buffer. It uses the kernel's own headers, because
 * usdt.bpf.h needs more types than vmlinux/ has. */
#include <linux/bpf.h>
#include <linux/ptrace.h>
#include <stdbool.h>
/* clang-format off: not to be sorted before these */
#include <bpf/bpf_helpers.h>
#include <bpf/bpf_tracing.h>
#include <bpf/usdt.bpf.h>
/* clang-format on */

char LICENSE[] SEC("license") = "GPL";

struct {
  __uint(type, BPF_MAP_TYPE_RINGBUF);
  __uint(max_entries, 16 << 20);
} ring SEC(".maps");

struct hit {
  __u64 ts_ns;
  __u64 tid;
  long value[5];
};

SEC("usdt")
int empty(struct pt_regs* ctx) {
  (void)ctx;
  return 0;
}

SEC("usdt")
int five_args(struct pt_regs* ctx) {
  struct hit* hit = bpf_ringbuf_reserve(&ring, sizeof(*hit), 0);

  if (!hit) return 0;
  hit->ts_ns = bpf_ktime_get_ns();
  hit->tid = (__u32)bpf_get_current_pid_tgid();
  for (int i = 0; i < 5; i++) bpf_usdt_arg(ctx, (__u64)i, &hit->value[i]);
  bpf_ringbuf_submit(hit, BPF_RB_NO_WAKEUP);
  return 0;
}
