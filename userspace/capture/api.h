// The door of the capture: the headers that the command line and the doctor may use. Code outside
// includes no other header of it (tests/architecture); tests of a part include that part's own.
//
//   capture_session.h     one capture, from attaching to a finished trace; its options
//   flight_rings.h        a capture of targets that record by themselves
//   control/              commands that are started to be recorded; requests to a running capture
//   context/, perf/,      sources besides the targets' own points: the kernel's actions, counters
//   queues/, energy/      and stacks, queues and sockets, energy
//   metrics/              figures for monitoring while it runs
//   post_mortem/          traces of rings that no collector reads: after a crash, or still written
//   rights/, helper/      the rights that a capture keeps; the process that keeps the others
//   bpf/, rings/,         what a machine and a target offer before anything is attached: probes and
//   records/, perf/       their costs, rings and their switches, clocks, counters
//
// Each header says who owns what, on which thread. This one has no state.
#pragma once

#include "userspace/capture/bpf/attach.h"
#include "userspace/capture/bpf/bpf_programs.h"
#include "userspace/capture/bpf/calibrate.h"
#include "userspace/capture/bpf/hit_rates.h"
#include "userspace/capture/bpf/nop_trial.h"
#include "userspace/capture/bpf/trial_sites.h"
#include "userspace/capture/capture_session.h"
#include "userspace/capture/context/context_source.h"
#include "userspace/capture/context/syscall_rate.h"
#include "userspace/capture/control/control_socket.h"
#include "userspace/capture/control/target_command.h"
#include "userspace/capture/energy/energy_source.h"
#include "userspace/capture/flight_rings.h"
#include "userspace/capture/helper/helper_scope.h"
#include "userspace/capture/helper/privileged_requests.h"
#include "userspace/capture/hit_watch.h"
#include "userspace/capture/metrics/metrics_service.h"
#include "userspace/capture/output/writer_thread.h"
#include "userspace/capture/perf/perf_counters.h"
#include "userspace/capture/perf/perf_source.h"
#include "userspace/capture/post_mortem/crash_trace.h"
#include "userspace/capture/post_mortem/orphaned_trace.h"
#include "userspace/capture/post_mortem/snapshot_rings.h"
#include "userspace/capture/queues/queue_sampler.h"
#include "userspace/capture/queues/queue_table.h"
#include "userspace/capture/records/counter_exchange.h"
#include "userspace/capture/records/counter_offsets.h"
#include "userspace/capture/records/ring_clock.h"
#include "userspace/capture/rights/rights.h"
#include "userspace/capture/rings/mapped_arena.h"
#include "userspace/capture/rings/ring_control.h"
