/* Reports forks, execs and exits of the traced processes, so that the tracer can attach to children
 * and knows in which span it had not. A child is added to `targets` here, before it has run: so its
 * own children are reported as well, however late the tracer reads.
 *
 * These tracepoints are hit once for each process or thread of the host that is made or ends.
 */
#include "vmlinux.h"

#include <bpf/bpf_helpers.h>
#include <bpf/bpf_tracing.h>

#include "family_events.h"

/* BPF_PROG declares all arguments of a tracepoint, also those that a program does not use. */
#pragma clang diagnostic ignored "-Wunused-parameter"

char LICENSE[] SEC("license") = "Dual BSD/GPL";

/* The processes that are traced, by tgid. The tracer and the fork program add, an exit removes. */
struct {
  __uint(type, BPF_MAP_TYPE_HASH);
  __uint(max_entries, 16384);
  __type(key, __u32);
  __type(value, __u8);
} targets SEC(".maps");

struct {
  __uint(type, BPF_MAP_TYPE_RINGBUF);
  __uint(max_entries, 256 * 1024);
} family_events SEC(".maps");

__u64 lost = 0; /* records that found no room */

static __always_inline void report(__u32 kind, __u32 pid, __u32 parent) {
  struct sj_family_event* event = bpf_ringbuf_reserve(&family_events, sizeof(*event), 0);

  if (!event) {
    __sync_fetch_and_add(&lost, 1);
    return;
  }
  event->ts_ns = bpf_ktime_get_ns();
  event->kind = kind;
  event->pid = pid;
  event->parent = parent;
  event->pad = 0;
  bpf_ringbuf_submit(event, 0);
}

static __always_inline int is_target(__u32 tgid) {
  return bpf_map_lookup_elem(&targets, &tgid) != 0;
}

SEC("tp_btf/sched_process_fork")
int BPF_PROG(on_fork, struct task_struct* parent, struct task_struct* child) {
  const __u32 pid = (__u32)child->tgid;
  const __u8 yes = 1;

  if (child->pid != child->tgid || !is_target((__u32)parent->tgid)) return 0;
  bpf_map_update_elem(&targets, &pid, &yes, BPF_ANY);
  report(SJ_FAMILY_FORK, pid, (__u32)parent->tgid);
  return 0;
}

SEC("tp_btf/sched_process_exec")
int BPF_PROG(on_exec, struct task_struct* task) {
  if (is_target((__u32)task->tgid)) report(SJ_FAMILY_EXEC, (__u32)task->tgid, 0);
  return 0;
}

/* Other threads of the process may live on. Then the tracer adds it again. */
SEC("tp_btf/sched_process_exit")
int BPF_PROG(on_exit, struct task_struct* task) {
  const __u32 pid = (__u32)task->tgid;

  if (task->pid != task->tgid || !is_target(pid)) return 0;
  bpf_map_delete_elem(&targets, &pid);
  report(SJ_FAMILY_EXIT, pid, 0);
  return 0;
}
