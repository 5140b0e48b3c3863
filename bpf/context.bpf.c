/* Records what the kernel does to the target's threads: switches, wakeups, migrations, interrupts,
 * system calls, page faults, packets dropped at its sockets. It uses BTF tracepoints only, neither
 * kprobes nor tracefs. Only the programs of the families that were asked for are loaded.
 *
 * A tracepoint fires for the whole host, so each program first drops the hits that are not the
 * target's. The others go to this CPU's ring (ring.bpf.h). The gate compares a hit's stamp.
 */
#include "vmlinux.h"

#include <bpf/bpf_core_read.h>
#include <bpf/bpf_helpers.h>
#include <bpf/bpf_tracing.h>

#include "context_events.h"
#include "ring.bpf.h"

/* BPF_PROG declares all arguments of a tracepoint, also those that a program does not use. */
#pragma clang diagnostic ignored "-Wunused-parameter"

char LICENSE[] SEC("license") = "Dual BSD/GPL";

/* The point's number for each kind of hit. Set before attaching. */
__u16 point_of[SJ_CONTEXT_KINDS] = {};

/* Set before loading. False: the programs of interrupts record nothing; they run because `sched`
 * needs to know whether a CPU is in an interrupt. */
const volatile bool record_interrupts = 0;

/* The processes that are traced, by tgid. The tracer adds them; all programs look them up. */
struct {
  __uint(type, BPF_MAP_TYPE_HASH);
  __uint(max_entries, 1024);
  __type(key, __u32);
  __type(value, __u8);
} targets SEC(".maps");

/* The target's sockets, by cookie. The tracer adds them; the socket programs look them up. */
struct {
  __uint(type, BPF_MAP_TYPE_HASH);
  __uint(max_entries, 4096);
  __type(key, __u64);
  __type(value, __u8);
} sockets SEC(".maps");

/* State of a thread of the target between two tracepoints. */
struct thread {
  __u64 waking_ns; /* 0: no thread is waking it */
  __u32 waker;
  __u32 waker_pid;
  __u32 from;
  __u32 syscall;
  __u64 syscall_ns; /* 0: in no system call, as far as is known */
  __u64 syscall_arg0;
  __u64 syscall_op;
};
struct {
  __uint(type, BPF_MAP_TYPE_HASH);
  __uint(max_entries, 16384);
  __type(key, __u32);
  __type(value, struct thread);
} threads SEC(".maps");

/* The name of each thread in a hit. The tracer reads the map when `names_seen` has moved. */
struct {
  __uint(type, BPF_MAP_TYPE_HASH);
  __uint(max_entries, 16384);
  __type(key, __u32);
  __type(value, struct sj_thread_name);
} names SEC(".maps");
__u64 names_seen = 0;
__u8 syscalls_seen[SJ_MAX_SYSCALLS] = {};

/* When the interrupts that this CPU is in began; 0: it is in none of that kind. */
struct interrupts {
  __u64 irq_ns;
  __u64 softirq_ns;
};
struct {
  __uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
  __uint(max_entries, 1);
  __type(key, __u32);
  __type(value, struct interrupts);
} interrupts SEC(".maps");

static __always_inline int is_target(__u32 tgid) {
  return bpf_map_lookup_elem(&targets, &tgid) != 0;
}

static __always_inline int is_current_target(void) {
  return is_target((__u32)(bpf_get_current_pid_tgid() >> 32));
}

static __always_inline struct interrupts* interrupts_here(void) {
  const __u32 only = 0;

  return bpf_map_lookup_elem(&interrupts, &only);
}

/* Writes a hit. `values` is the struct of its kind. */
static __always_inline int record_at(__u64 ts_ns, __u32 kind, __u32 tid, const void* values,
                                     __u32 count) {
  __u64 number;
  struct sj_hit* hit;

  if (!gate_is_open(ts_ns)) return 0;
  hit = take_slot(kind, &number);
  if (!hit) return 0;
  hit->ts_ns = ts_ns;
  hit->tid = tid;
  hit->point = point_of[kind];
  hit->args = (__u8)count;
  hit->flags = 0;
#pragma unroll
  for (__u32 i = 0; i < SJ_CONTEXT_MAX_VALUES; i++)
    if (i < count) hit->value[i] = ((const __u64*)values)[i];
  commit(hit, number);
  return 0;
}

#define record(ts_ns, kind, tid, values) \
  record_at(ts_ns, kind, tid, &(values), sizeof(values) / sizeof(__u64))

static __noinline int keep_name(__u32 tid, const struct sj_thread_name* name) {
  if (!name) return 0;
  bpf_map_update_elem(&names, &tid, name, BPF_ANY);
  __sync_fetch_and_add(&names_seen, 1);
  return 0;
}

/* Notes a thread's name if it is new or has changed: the kernel reuses thread ids. */
static __always_inline void know(struct task_struct* task) {
  const __u32 tid = (__u32)task->pid;
  struct sj_thread_name name = {};
  const struct sj_thread_name* known;

  if (!tid) return; /* the idle CPU */
  bpf_probe_read_kernel(name.comm, sizeof(name.comm), task->comm);
  known = bpf_map_lookup_elem(&names, &tid);
  if (known && *(const __u64*)known->comm == *(const __u64*)name.comm &&
      *(const __u64*)(known->comm + 8) == *(const __u64*)(name.comm + 8))
    return;
  name.pid = (__u32)task->tgid;
  keep_name(tid, &name);
}

static __always_inline struct thread* thread_of(__u32 tid) {
  struct thread* thread = bpf_map_lookup_elem(&threads, &tid);

  if (!thread) {
    const struct thread none = {};
    know(bpf_get_current_task_btf());
    bpf_map_update_elem(&threads, &tid, &none, BPF_NOEXIST);
    thread = bpf_map_lookup_elem(&threads, &tid);
  }
  return thread;
}

/* ---- sched ---- */

static __always_inline __u32 cpu_of(struct task_struct* task) {
  /* The CPU's number has moved: it is in thread_info since Linux 5.16. */
  if (bpf_core_field_exists(task->thread_info.cpu)) return BPF_CORE_READ(task, thread_info.cpu);
  return (__u32)BPF_CORE_READ(task, wake_cpu);
}

/* Whether this CPU works for a thread, an interrupt or a softirq. BPF programs cannot read the
 * preempt count on all kernels, so the programs of interrupts keep track of it. */
static __always_inline __u32 working_for(void) {
  const struct interrupts* here = interrupts_here();

  if (here && here->irq_ns) return SJ_FROM_IRQ;
  return here && here->softirq_ns ? SJ_FROM_SOFTIRQ : SJ_FROM_THREAD;
}

SEC("tp_btf/sched_switch")
int BPF_PROG(on_switch, bool preempt, struct task_struct* prev, struct task_struct* next,
             unsigned int prev_state) {
  const int prev_is_target = is_target((__u32)prev->tgid);

  if (!prev_is_target && !is_target((__u32)next->tgid)) return 0;
  const __u64 ts_ns = bpf_ktime_get_ns();
  const struct sj_switch values = {.prev = (__u32)prev->pid,
                                   .prev_pid = (__u32)prev->tgid,
                                   .state = preempt ? SJ_STATE_PREEMPTED : prev_state,
                                   .next = (__u32)next->pid,
                                   .next_pid = (__u32)next->tgid,
                                   .next_prio = (__u64)(__s64)next->prio};

  know(prev);
  know(next);
  return record(ts_ns, SJ_CONTEXT_SWITCH, prev_is_target ? values.prev : values.next, values);
}

/* Runs on the waker's CPU, under a lock of the woken thread. The wakeup is recorded later, when the
 * thread is on a CPU's queue, which may happen on another CPU. */
SEC("tp_btf/sched_waking")
int BPF_PROG(on_waking, struct task_struct* woken) {
  if (!is_target((__u32)woken->tgid)) return 0;
  struct thread* thread = thread_of((__u32)woken->pid);
  if (!thread) return 0;
  struct task_struct* waker = bpf_get_current_task_btf();

  thread->waker = (__u32)waker->pid;
  thread->waker_pid = (__u32)waker->tgid;
  thread->from = working_for();
  thread->waking_ns = bpf_ktime_get_ns();
  know(waker);
  return 0;
}

SEC("tp_btf/sched_wakeup")
int BPF_PROG(on_wakeup, struct task_struct* woken) {
  if (!is_target((__u32)woken->tgid)) return 0;
  const __u64 ts_ns = bpf_ktime_get_ns();
  const __u32 tid = (__u32)woken->pid;
  struct sj_wakeup values = {.from = SJ_FROM_UNKNOWN, .cpu = cpu_of(woken)};
  struct thread* thread = bpf_map_lookup_elem(&threads, &tid);

  if (thread && thread->waking_ns) {
    values.waker = thread->waker;
    values.waker_pid = thread->waker_pid;
    values.from = thread->from;
    values.ns = ts_ns - thread->waking_ns;
    thread->waking_ns = 0;
  }
  know(woken);
  return record(ts_ns, SJ_CONTEXT_WAKEUP, tid, values);
}

SEC("tp_btf/sched_wakeup_new")
int BPF_PROG(on_wakeup_new, struct task_struct* woken) {
  if (!is_target((__u32)woken->tgid)) return 0;
  const __u64 ts_ns = bpf_ktime_get_ns();
  struct task_struct* maker = bpf_get_current_task_btf();
  const struct sj_wakeup values = {.waker = (__u32)maker->pid,
                                   .waker_pid = (__u32)maker->tgid,
                                   .from = SJ_FROM_CREATION,
                                   .cpu = cpu_of(woken)};

  know(maker);
  know(woken);
  return record(ts_ns, SJ_CONTEXT_WAKEUP, (__u32)woken->pid, values);
}

SEC("tp_btf/sched_migrate_task")
int BPF_PROG(on_migrate, struct task_struct* task, int to) {
  if (!is_target((__u32)task->tgid)) return 0;
  const __u64 ts_ns = bpf_ktime_get_ns();
  const struct sj_migrate values = {.from = cpu_of(task), .to = (__u32)to};

  return record(ts_ns, SJ_CONTEXT_MIGRATE, (__u32)task->pid, values);
}

/* The kernel may reuse the thread id from here on. */
SEC("tp_btf/sched_process_exit")
int BPF_PROG(on_exit, struct task_struct* task) {
  const __u32 tid = (__u32)task->pid;

  if (is_target((__u32)task->tgid)) bpf_map_delete_elem(&threads, &tid);
  return 0;
}

/* ---- irq ---- */

/* The program at the end of a span stands below the one at its beginning: the tracer attaches from
 * the last to the first, so that no beginning is seen without its end. */

/* Notes interrupts of any thread, as working_for() needs them. Only a target's are recorded. */
static __always_inline int enter_irq(void) {
  struct interrupts* here = interrupts_here();

  if (here) here->irq_ns = bpf_ktime_get_ns();
  return 0;
}

static __always_inline int leave_irq(__u32 number) {
  struct interrupts* here = interrupts_here();
  if (!here || !here->irq_ns) return 0;
  const __u64 begin_ns = here->irq_ns;

  here->irq_ns = 0;
  if (!record_interrupts || !is_current_target()) return 0;
  const __u64 ts_ns = bpf_ktime_get_ns();
  const struct sj_irq values = {
      .number = number, .ns = ts_ns - begin_ns, .nested = here->softirq_ns != 0};

  return record(ts_ns, SJ_CONTEXT_IRQ, (__u32)bpf_get_current_pid_tgid(), values);
}

SEC("tp_btf/irq_handler_entry")
int BPF_PROG(on_irq_entry) {
  return enter_irq();
}

SEC("tp_btf/irq_handler_exit")
int BPF_PROG(on_irq_exit, int irq) {
  return leave_irq((__u32)irq);
}

#ifdef __TARGET_ARCH_x86
/* On x86-64 interrupts that belong to no device have tracepoints of their own. */
#define ON_VECTOR(name, vector)                    \
  SEC("tp_btf/" #name "_entry")                    \
  int BPF_PROG(on_##name##_entry) {                \
    return enter_irq();                            \
  }                                                \
  SEC("tp_btf/" #name "_exit")                     \
  int BPF_PROG(on_##name##_exit) {                 \
    return leave_irq(SJ_VECTOR + (__u32)(vector)); \
  }

ON_VECTOR(local_timer, SJ_VECTOR_TIMER)
ON_VECTOR(reschedule, SJ_VECTOR_RESCHEDULE)
ON_VECTOR(call_function, SJ_VECTOR_CALL)
ON_VECTOR(call_function_single, SJ_VECTOR_CALL_SINGLE)
ON_VECTOR(irq_work, SJ_VECTOR_IRQ_WORK)
#endif

SEC("tp_btf/softirq_entry")
int BPF_PROG(on_softirq_entry) {
  struct interrupts* here = interrupts_here();

  if (here) here->softirq_ns = bpf_ktime_get_ns();
  return 0;
}

SEC("tp_btf/softirq_exit")
int BPF_PROG(on_softirq_exit, unsigned int number) {
  struct interrupts* here = interrupts_here();
  if (!here || !here->softirq_ns) return 0;
  const __u64 begin_ns = here->softirq_ns;

  here->softirq_ns = 0;
  if (!record_interrupts || !is_current_target()) return 0;
  const __u64 ts_ns = bpf_ktime_get_ns();
  const struct sj_softirq values = {.number = number, .ns = ts_ns - begin_ns};

  return record(ts_ns, SJ_CONTEXT_SOFTIRQ, (__u32)bpf_get_current_pid_tgid(), values);
}

/* ---- syscalls ---- */

#ifdef __TARGET_ARCH_x86
#define SYSCALL_OF(regs) ((__u32)(regs)->orig_ax)
#define IP_OF(regs) ((regs)->ip)
#define ARG0_OF(regs) ((regs)->di)
#define ARG1_OF(regs) ((regs)->si)
#define SJ_NR_FUTEX 202
#else
#define SYSCALL_OF(regs) ((__u32)BPF_CORE_READ((struct pt_regs___kernel*)(regs), syscallno))
#define IP_OF(regs) ((regs)->user_regs.pc)
#define ARG0_OF(regs) ((regs)->user_regs.regs[0])
#define ARG1_OF(regs) ((regs)->user_regs.regs[1])
#define SJ_NR_FUTEX 98
#endif

SEC("tp_btf/sys_enter")
int BPF_PROG(on_sys_enter, struct pt_regs* regs, long number) {
  if (!is_current_target()) return 0;
  struct thread* thread = thread_of((__u32)bpf_get_current_pid_tgid());
  if (!thread) return 0;

  thread->syscall = (__u32)number;
  thread->syscall_arg0 = ARG0_OF(regs);
  thread->syscall_op = number == SJ_NR_FUTEX ? ARG1_OF(regs) : 0;
  thread->syscall_ns = bpf_ktime_get_ns();
  return 0;
}

/* Counts system calls by CPU. Loaded alone before a capture, to estimate what recording costs. */
struct {
  __uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
  __uint(max_entries, 1);
  __type(key, __u32);
  __type(value, struct sj_calls);
} calls SEC(".maps");

SEC("tp_btf/sys_enter")
int BPF_PROG(count_sys_enter) {
  const __u32 only = 0;
  struct sj_calls* here = bpf_map_lookup_elem(&calls, &only);

  if (!here) return 0;
  here->all++;
  if (is_current_target()) here->of_targets++;
  return 0;
}

SEC("tp_btf/sys_exit")
int BPF_PROG(on_sys_exit, struct pt_regs* regs, long result) {
  if (!is_current_target()) return 0;
  const __u64 ts_ns = bpf_ktime_get_ns();
  const __u32 tid = (__u32)bpf_get_current_pid_tgid();
  struct thread* thread = bpf_map_lookup_elem(&threads, &tid);
  struct sj_syscall values = {.result = (__u64)result};

  if (thread && thread->syscall_ns) {
    values.number = thread->syscall;
    values.ns = ts_ns - thread->syscall_ns;
    values.arg0 = thread->syscall_arg0;
    values.op = thread->syscall_op;
    thread->syscall_ns = 0;
  } else {
    values.number = SYSCALL_OF(regs);
#ifdef __TARGET_ARCH_x86
    /* The first argument is still in its register: the result has a register of its own. */
    values.arg0 = ARG0_OF(regs);
    values.op = values.number == SJ_NR_FUTEX ? ARG1_OF(regs) : 0;
#endif
  }
  if (values.number < SJ_MAX_SYSCALLS && !syscalls_seen[values.number])
    syscalls_seen[values.number] = 1;
  return record(ts_ns, SJ_CONTEXT_SYSCALL, tid, values);
}

/* ---- faults ---- */

static __always_inline int fault(__u64 address, struct pt_regs* regs, __u64 code) {
  if (!is_current_target()) return 0;
  const __u64 ts_ns = bpf_ktime_get_ns();
  know(bpf_get_current_task_btf());
  const struct sj_fault values = {.address = address, .ip = IP_OF(regs), .code = code};

  return record(ts_ns, SJ_CONTEXT_FAULT, (__u32)bpf_get_current_pid_tgid(), values);
}

SEC("tp_btf/page_fault_user")
int BPF_PROG(on_fault_user, unsigned long address, struct pt_regs* regs, unsigned long code) {
  return fault(address, regs, code);
}

/* The kernel faulted in the target's memory, e.g. in a read() into a fresh buffer. */
SEC("tp_btf/page_fault_kernel")
int BPF_PROG(on_fault_kernel, unsigned long address, struct pt_regs* regs, unsigned long code) {
  if ((long)address < 0) return 0; /* the kernel's memory */
  return fault(address, regs, code);
}

/* ---- sockets ---- */

static __always_inline int dropped(struct sock* sk, struct sk_buff* packet, __u64 error) {
  const __u64 cookie = (__u64)BPF_CORE_READ(sk, __sk_common.skc_cookie.counter);

  if (!bpf_map_lookup_elem(&sockets, &cookie)) return 0;
  const __u64 ts_ns = bpf_ktime_get_ns();
  const struct sj_socket_drop values = {
      .socket = cookie, .bytes = packet ? BPF_CORE_READ(packet, len) : 0, .error = error};

  return record(ts_ns, SJ_CONTEXT_SOCKET_DROP, (__u32)bpf_get_current_pid_tgid(), values);
}

/* The packet is an argument since Linux 6.10; older tracepoints do not have it. */
SEC("tp_btf/udp_fail_queue_rcv_skb")
int BPF_PROG(on_udp_drop, int error, struct sock* sk) {
  return dropped(sk, 0, (__u32)-error);
}

#define SJ_ENOBUFS 105
SEC("tp_btf/sock_rcvqueue_full")
int BPF_PROG(on_queue_full, struct sock* sk, struct sk_buff* packet) {
  return dropped(sk, packet, SJ_ENOBUFS);
}
