/*
 * The slow path of a hit that finds no room in its thread's ring: it takes a ring, starts the next
 * chunk, or counts the loss. It runs inside of hits, so also in signal handlers and in forked
 * children, and a handler that interrupts it may enter it again: nothing is locked, every step is
 * one exchange or belongs to this thread alone. Compiled to use general registers only, as the code
 * around the point expects its vector registers unchanged.
 */
#include <sojourn/detail/ring_write.h>
#include <sojourn/rings.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <time.h>

#include "rings.h"
#include "syscalls.h"

/* The ring of a thread that has none: it is not alive, so a hit takes the slow path. */
static struct {
  char ring[SJ_RING_PRIVATE];
  struct sj_ring_private own;
} no_ring __attribute__((aligned(64)));

__thread struct sj_ring* sj_ring_self = (struct sj_ring*)(void*)&no_ring;

enum { kErrorNoSuchProcess = 3, kErrorInvalid = 22 };

static uint64_t stamp(void) {
#if defined(__x86_64__)
  return __builtin_ia32_rdtsc();
#else
  uint64_t ticks;
  __asm__ __volatile__("mrs %0, cntvct_el0" : "=r"(ticks));
  return ticks;
#endif
}

static struct sj_ring_private* private_of(struct sj_ring* ring) {
  return (struct sj_ring_private*)(void*)((char*)ring + SJ_RING_PRIVATE);
}

static int is_alive(struct sj_ring* ring) {
  return __atomic_load_n(&private_of(ring)->alive, __ATOMIC_RELAXED) != 0;
}

static uint64_t own_identity(void) {
  const uint64_t pid = (uint64_t)sj_syscall(SYS_getpid, 0, 0, 0, 0, 0, 0);
  return pid << 32 | (uint32_t)sj_syscall(SYS_gettid, 0, 0, 0, 0, 0, 0);
}

static int has_exited(uint64_t owner) {
  return sj_syscall(SYS_tgkill, (long)(owner >> 32), (long)(uint32_t)owner, 0, 0, 0, 0) ==
         -kErrorNoSuchProcess;
}

static uint64_t wanted_capacity(const struct sj_arena* arena) {
  const uint64_t most = arena->ring_stride - SJ_RING_DATA - SJ_RING_PAGE;
  const uint64_t asked = __atomic_load_n(&arena->control.ring_bytes, __ATOMIC_RELAXED);
  uint64_t capacity = asked != 0 ? asked : arena->ring_bytes_default;
  /* Rounds down to a power of two: a collector may have written anything there. */
  while (capacity & (capacity - 1)) capacity &= capacity - 1;
  while (capacity > most) capacity /= 2;
  return capacity < SJ_RING_PAGE ? SJ_RING_PAGE : capacity;
}

/* ---- the clocks ---- */

static uint64_t clock_ns(long clock) {
  struct timespec now;
  if (sj_syscall(SYS_clock_gettime, clock, (long)&now, 0, 0, 0, 0) != 0) return 0;
  return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

int sj_read_clocks(struct sj_clock_reading* reading) {
  enum { kTries = 3 }; /* the tightest reading is kept: a thread may be preempted in any of them */
  *reading = (struct sj_clock_reading){.ticks = UINT64_MAX};
  for (int tries = 0; tries < kTries; ++tries) {
    const uint64_t before = stamp();
    const uint64_t monotonic_ns = clock_ns(CLOCK_MONOTONIC);
    const uint64_t ticks = stamp() - before;
    if (monotonic_ns == 0 || ticks >= reading->ticks) continue;
    reading->stamp = before + ticks / 2;
    reading->ticks = ticks;
    reading->monotonic_ns = monotonic_ns;
    reading->realtime_ns = clock_ns(CLOCK_REALTIME);
    reading->tai_ns = clock_ns(CLOCK_TAI);
  }
  return reading->stamp != 0;
}

/* Takes a newer reading: the farther two are apart, the better they give the counter's rate. Does
 * nothing if another thread is taking one. */
static void note_clocks(struct sj_arena* arena) {
  struct sj_clock_reading now;
  uint32_t nobody = 0;
  if (!sj_read_clocks(&now)) return;
  if (!__atomic_compare_exchange_n(&arena->clocks_writer, &nobody, 1, 0, __ATOMIC_ACQUIRE,
                                   __ATOMIC_RELAXED))
    return;
  arena->newest_clocks = now;
  __atomic_store_n(&arena->clocks_writer, 0, __ATOMIC_RELEASE);
}

/* ---- memory ---- */

/* Touches page by page if the kernel has no MADV_POPULATE_WRITE, or is emulated. */
static int populate(char* from, uint64_t bytes) {
#ifndef MADV_POPULATE_WRITE
#define MADV_POPULATE_WRITE 23
#endif
  const long result =
      sj_syscall(SYS_madvise, (long)from, (long)bytes, MADV_POPULATE_WRITE, 0, 0, 0);
  if (result != -kErrorInvalid) return result == 0;
  for (uint64_t at = 0; at < bytes; at += 4096)
    __atomic_fetch_or((uint64_t*)(void*)(from + at), 0, __ATOMIC_RELAXED);
  return 1;
}

static int call(long number, const void* address, uint64_t bytes, long argument) {
  return sj_syscall(number, (long)address, (long)bytes, argument, 0, 0, 0) == 0;
}

static int map_private_page(uint64_t slot) {
  if (__atomic_load_n(&sj_runtime.mapped[slot], __ATOMIC_RELAXED)) return 1;
  char* const page = (char*)sj_ring_at(slot) + SJ_RING_PRIVATE;
  if (sj_syscall(SYS_mmap, (long)page, SJ_RING_PAGE, PROT_READ | PROT_WRITE,
                 MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0) != (long)page)
    return 0;
  call(SYS_madvise, page, SJ_RING_PAGE, MADV_WIPEONFORK);
  __atomic_store_n(&sj_runtime.mapped[slot], 1, __ATOMIC_RELAXED);
  return 1;
}

/* Makes memory present before its first byte is used: if there is none left, this fails here and
 * not by a signal later. Only the used part becomes accessible, so that mlockall() does not fill
 * the rest, and only that part goes into a core file. */
static int make_present(uint64_t slot, uint64_t capacity) {
  char* const base = (char*)sj_ring_at(slot);
  const uint64_t bytes = SJ_RING_DATA + capacity + SJ_RING_PAGE;
  return call(SYS_mprotect, base, bytes, PROT_READ | PROT_WRITE) && map_private_page(slot) &&
         populate(base, bytes) && (call(SYS_madvise, base, bytes, MADV_DODUMP) || 1);
}

/* Reserves memory within the ceiling for all rings together. */
static int reserve_memory(struct sj_arena* arena, uint64_t bytes) {
  const uint64_t asked = __atomic_load_n(&arena->control.memory_ceiling, __ATOMIC_RELAXED);
  const uint64_t ceiling = asked != 0 ? asked : arena->memory_ceiling_default;
  if (__atomic_add_fetch(&arena->memory_used, bytes, __ATOMIC_RELAXED) <= ceiling) return 1;
  __atomic_sub_fetch(&arena->memory_used, bytes, __ATOMIC_RELAXED);
  return 0;
}

int sj_ring_prepare(uint64_t slot, uint64_t capacity) {
  struct sj_arena* const arena = sj_runtime.arena;
  struct sj_ring_slot* const entry = &sj_runtime.slots[slot];
  const uint64_t had = __atomic_load_n(&entry->populated, __ATOMIC_RELAXED);
  if (capacity <= had) return make_present(slot, had);
  if (!reserve_memory(arena, capacity - had)) return 0;
  if (!make_present(slot, capacity)) {
    __atomic_sub_fetch(&arena->memory_used, capacity - had, __ATOMIC_RELAXED);
    return 0;
  }
  __atomic_store_n(&entry->populated, capacity, __ATOMIC_RELAXED);
  return 1;
}

/* ---- taking a ring ---- */

static void note_slot_used(struct sj_arena* arena, uint64_t slot) {
  uint64_t used = __atomic_load_n(&arena->slots_used, __ATOMIC_RELAXED);
  while (used <= slot && !__atomic_compare_exchange_n(&arena->slots_used, &used, slot + 1, 0,
                                                      __ATOMIC_RELEASE, __ATOMIC_RELAXED)) {
  }
}

/* Notes the record at `from` as the first that ends in its chunk. */
static void begin_chunk(struct sj_ring* ring, int64_t from, uint64_t bytes) {
  const int64_t chunk = (int64_t)((ring->mask + 1) / SJ_RING_CHUNKS);
  const int64_t last = from + (int64_t)bytes - 1;
  const int64_t number = last / chunk;
  __atomic_store_n(&ring->chunk[(uint64_t)number % SJ_RING_CHUNKS], from, __ATOMIC_RELEASE);
  __atomic_store_n(&ring->limit, (number + 1) * chunk, __ATOMIC_RELEASE);
}

/* Makes the ring this thread's. Once `owner` is set only the collector writes to it besides. */
static void enter_ring(struct sj_ring* ring, uint64_t owner, uint64_t capacity) {
  const struct sj_arena_control* const control = &sj_runtime.arena->control;
  const uint32_t session = __atomic_load_n(&control->session, __ATOMIC_ACQUIRE);
  const int64_t cursor = __atomic_load_n(&ring->cursor, __ATOMIC_RELAXED);
  if (capacity != 0) { /* 0: another thread had the ring, and the collector keeps its place in it */
    __atomic_store_n(&ring->mask, capacity - 1, __ATOMIC_RELAXED);
    __atomic_store_n(&ring->retire, 0, __ATOMIC_RELAXED);
    __atomic_store_n(&ring->mode, __atomic_load_n(&control->mode, __ATOMIC_RELAXED),
                     __ATOMIC_RELAXED);
    __atomic_store_n(&ring->session, session, __ATOMIC_RELAXED);
    if (session % 2 == 0)
      __atomic_store_n(&ring->limit, SJ_RING_CLOSED, __ATOMIC_RELAXED);
    else if (ring->mode == SJ_RING_FLIGHT)
      begin_chunk(ring, cursor, 1);
    else
      __atomic_store_n(&ring->limit, cursor + (int64_t)capacity, __ATOMIC_RELAXED);
  }
  sj_syscall(SYS_prctl, PR_GET_NAME, (long)ring->thread_name, 0, 0, 0, 0);
  __atomic_store_n(&ring->claimed_stamp, stamp(), __ATOMIC_RELAXED);
  __atomic_store_n(&private_of(ring)->reserved, cursor, __ATOMIC_RELAXED);
  __atomic_store_n(&private_of(ring)->alive, 1, __ATOMIC_RELAXED);
  __atomic_store_n(&ring->owner, owner, __ATOMIC_RELEASE);
  sj_ring_self = ring;
}

enum slot_outcome { SLOT_OURS, SLOT_ANOTHERS, SLOT_NO_MEMORY };

static enum slot_outcome take_slot(uint64_t slot, uint64_t owner, uint64_t capacity) {
  uint64_t nobody = 0;
  if (!__atomic_compare_exchange_n(&sj_runtime.slots[slot].taken, &nobody, owner, 0,
                                   __ATOMIC_ACQ_REL, __ATOMIC_RELAXED))
    return SLOT_ANOTHERS;
  if (!sj_ring_prepare(slot, capacity)) {
    __atomic_store_n(&sj_runtime.slots[slot].taken, 0, __ATOMIC_RELEASE);
    return SLOT_NO_MEMORY;
  }
  note_slot_used(sj_runtime.arena, slot);
  note_clocks(sj_runtime.arena);
  enter_ring(sj_ring_at(slot), owner, capacity);
  return SLOT_OURS;
}

/* Whether everything in the ring was read, or no collector reads it. */
static int is_drained(struct sj_ring* ring) {
  if (__atomic_load_n(&sj_runtime.arena->control.session, __ATOMIC_RELAXED) % 2 == 0) return 1;
  if (__atomic_load_n(&ring->mode, __ATOMIC_RELAXED) == SJ_RING_FLIGHT) return 1;
  return __atomic_load_n(&ring->limit, __ATOMIC_ACQUIRE) - (int64_t)(ring->mask + 1) ==
         __atomic_load_n(&ring->cursor, __ATOMIC_RELAXED);
}

/* Takes the ring of a thread that has exited, if the collector has not freed it yet. */
static int take_from_exited(uint64_t slot, uint64_t owner) {
  uint64_t before = __atomic_load_n(&sj_runtime.slots[slot].taken, __ATOMIC_ACQUIRE);
  if (before == 0 || !has_exited(before)) return 0;
  if (!sj_ring_prepare(slot, 0)) return 0;
  struct sj_ring* const ring = sj_ring_at(slot);
  if (!is_drained(ring)) return 0;
  if (!__atomic_compare_exchange_n(&sj_runtime.slots[slot].taken, &before, owner, 0,
                                   __ATOMIC_ACQ_REL, __ATOMIC_RELAXED))
    return 0;
  enter_ring(ring, owner, 0);
  return 1;
}

int sj_ring_take(void) {
  struct sj_arena* const arena = sj_runtime.arena;
  if (arena == NULL) return 0;
  const uint64_t owner = own_identity();
  const uint64_t capacity = wanted_capacity(arena);
  for (uint64_t slot = 0; slot < arena->ring_slots; ++slot) {
    if (__atomic_load_n(&sj_runtime.slots[slot].taken, __ATOMIC_RELAXED) != 0) continue;
    const enum slot_outcome outcome = take_slot(slot, owner, capacity);
    if (outcome == SLOT_OURS) return 1;
    /* No slot behind this one was ever taken, so there is no memory for those either. */
    if (outcome == SLOT_NO_MEMORY && slot >= __atomic_load_n(&arena->slots_used, __ATOMIC_RELAXED))
      break;
  }
  const uint64_t used = __atomic_load_n(&arena->slots_used, __ATOMIC_RELAXED);
  for (uint64_t slot = 0; slot < used; ++slot)
    if (take_from_exited(slot, owner)) return 1;
  return 0;
}

/* ---- counting ---- */

/* Counts a site's loss in a small hash table. */
static void count_site(struct sj_ring_loss* table, uint32_t* elsewhere, uint32_t id) {
  const uint32_t first = id * 2654435761U % SJ_RING_LOSSES;
  for (uint32_t step = 0; step < SJ_RING_LOSSES; ++step) {
    struct sj_ring_loss* const loss = &table[(first + step) % SJ_RING_LOSSES];
    uint32_t found = 0;
    if (__atomic_compare_exchange_n(&loss->id, &found, id, 0, __ATOMIC_RELAXED, __ATOMIC_RELAXED) ||
        found == id) {
      __atomic_fetch_add(&loss->count, 1, __ATOMIC_RELEASE);
      return;
    }
  }
  __atomic_fetch_add(elsewhere, 1, __ATOMIC_RELEASE);
}

static void count_gap(struct sj_ring* ring, int64_t position) {
  const uint32_t begun = __atomic_load_n(&ring->gaps_begun, __ATOMIC_RELAXED);
  struct sj_ring_gap* const last = &ring->gap[(begun - 1) % SJ_RING_GAPS];
  if (begun != 0 && __atomic_load_n(&last->position, __ATOMIC_RELAXED) == position) {
    __atomic_fetch_add(&last->count, 1, __ATOMIC_RELEASE);
    return;
  }
  struct sj_ring_gap* const next = &ring->gap[begun % SJ_RING_GAPS];
  __atomic_store_n(&next->position, position, __ATOMIC_RELAXED);
  __atomic_store_n(&next->count, 1, __ATOMIC_RELAXED);
  __atomic_store_n(&ring->gaps_begun, begun + 1, __ATOMIC_RELEASE);
}

static int collector_is_dead(const struct sj_arena_control* control, uint64_t now) {
  const uint64_t patience = __atomic_load_n(&control->dead_after, __ATOMIC_RELAXED);
  const uint64_t heartbeat = __atomic_load_n(&control->heartbeat, __ATOMIC_RELAXED);
  return patience != 0 && now > heartbeat && now - heartbeat > patience;
}

/* Clears the flags of a collector that is dead. One that comes back sets them again. */
static void disarm(const struct sj_arena* arena) {
  uint64_t* const flags = (uint64_t*)(uintptr_t)arena->flags_address;
  for (uint64_t i = 0; i < arena->flags_bytes / sizeof(*flags); ++i)
    if (__atomic_load_n(&flags[i], __ATOMIC_RELAXED) != 0)
      __atomic_fetch_and(&flags[i], ~(uint64_t)0 / 0xffff * (0xffff & ~SJ_FLAG_RING),
                         __ATOMIC_RELAXED);
}

static void lose(struct sj_ring* ring, uint32_t id) {
  struct sj_arena* const arena = sj_runtime.arena;
  const struct sj_arena_control* const control = &arena->control;
  const uint64_t now = stamp();
  if (collector_is_dead(control, now)) {
    disarm(arena);
    return;
  }
  if (now < __atomic_load_n(&control->open_stamp, __ATOMIC_RELAXED) ||
      now >= __atomic_load_n(&control->close_stamp, __ATOMIC_RELAXED))
    return;
  if (ring == NULL) {
    count_site(arena->refused, &arena->refused_elsewhere, id);
    return;
  }
  count_gap(ring, __atomic_load_n(&private_of(ring)->reserved, __ATOMIC_RELAXED));
  count_site(ring->loss, &ring->losses_elsewhere, id);
  __atomic_fetch_add(&ring->lost, 1, __ATOMIC_RELEASE);
}

/* ---- the slow path itself ---- */

/* False while handlers have filled a chunk inside of one unfinished hit: a reader relies on nothing
 * being written yet that lies a chunk ahead of the cursor. */
static int may_overwrite(struct sj_ring* ring, int64_t reserved) {
  if (__atomic_load_n(&ring->mode, __ATOMIC_RELAXED) != SJ_RING_FLIGHT) return 0;
  if (__atomic_load_n(&ring->limit, __ATOMIC_RELAXED) == SJ_RING_CLOSED) return 0;
  const int64_t unpublished = reserved - __atomic_load_n(&ring->cursor, __ATOMIC_RELAXED);
  return unpublished < (int64_t)((ring->mask + 1) / SJ_RING_CHUNKS) - SJ_RECORD_MAX_BYTES;
}

int sj_ring_slow_in_c(uint64_t bytes, uint64_t id) SJ_HIDDEN;

/* 1: there may be room now. 0: there is none, and the loss is counted. */
int sj_ring_slow_in_c(uint64_t bytes, uint64_t id) {
  if (sj_runtime.arena == NULL) return 0;
  struct sj_ring* const ring = sj_ring_self;
  if (is_alive(ring) && __atomic_load_n(&ring->retire, __ATOMIC_ACQUIRE)) {
    __atomic_store_n(&ring->owner, 0, __ATOMIC_RELEASE);
    sj_ring_forget();
  } else if (is_alive(ring)) {
    const int64_t reserved = __atomic_load_n(&private_of(ring)->reserved, __ATOMIC_RELAXED);
    if (may_overwrite(ring, reserved)) {
      begin_chunk(ring, reserved, bytes);
      return 1;
    }
    lose(ring, (uint32_t)id);
    return 0;
  }
  /* The thread has no ring yet, or is a forked child with its parent's. */
  if (sj_ring_take()) return 1;
  lose(NULL, (uint32_t)id);
  return 0;
}

/* Keeps every register of the code around the point. On the stack above the return address: bytes
 * and id; the result replaces `bytes`. */
#if defined(__x86_64__)
__asm__(
    ".pushsection .text\n"
    ".hidden sj_ring_slow\n"
    ".globl sj_ring_slow\n"
    ".type sj_ring_slow, @function\n"
    "sj_ring_slow:\n"
    "  pushq %rbp\n"
    "  movq %rsp, %rbp\n"
    "  pushq %rax\n  pushq %rcx\n  pushq %rdx\n  pushq %rsi\n  pushq %rdi\n"
    "  pushq %r8\n  pushq %r9\n  pushq %r10\n  pushq %r11\n"
    "  movq 16(%rbp), %rdi\n"
    "  movq 24(%rbp), %rsi\n"
    "  andq $-16, %rsp\n"
    "  call sj_ring_slow_in_c\n"
    "  movl %eax, %eax\n"
    "  movq %rax, 16(%rbp)\n"
    "  leaq -72(%rbp), %rsp\n"
    "  popq %r11\n  popq %r10\n  popq %r9\n  popq %r8\n"
    "  popq %rdi\n  popq %rsi\n  popq %rdx\n  popq %rcx\n  popq %rax\n"
    "  popq %rbp\n"
    "  ret\n"
    ".size sj_ring_slow, . - sj_ring_slow\n"
    ".popsection\n");
#else
__asm__(
    ".pushsection .text\n"
    ".hidden sj_ring_slow\n"
    ".globl sj_ring_slow\n"
    ".type sj_ring_slow, %function\n"
    "sj_ring_slow:\n"
    "  stp x29, x30, [sp, #-176]!\n"
    "  mov x29, sp\n"
    "  stp x0, x1, [sp, #16]\n"
    "  stp x2, x3, [sp, #32]\n"
    "  stp x4, x5, [sp, #48]\n"
    "  stp x6, x7, [sp, #64]\n"
    "  stp x8, x9, [sp, #80]\n"
    "  stp x10, x11, [sp, #96]\n"
    "  stp x12, x13, [sp, #112]\n"
    "  stp x14, x15, [sp, #128]\n"
    "  str x18, [sp, #144]\n"
    "  ldp x0, x1, [sp, #176]\n"
    "  bl sj_ring_slow_in_c\n"
    "  mov w0, w0\n"
    "  str x0, [sp, #176]\n"
    "  ldp x0, x1, [sp, #16]\n"
    "  ldp x2, x3, [sp, #32]\n"
    "  ldp x4, x5, [sp, #48]\n"
    "  ldp x6, x7, [sp, #64]\n"
    "  ldp x8, x9, [sp, #80]\n"
    "  ldp x10, x11, [sp, #96]\n"
    "  ldp x12, x13, [sp, #112]\n"
    "  ldp x14, x15, [sp, #128]\n"
    "  ldr x18, [sp, #144]\n"
    "  ldp x29, x30, [sp], #176\n"
    "  ret\n"
    ".size sj_ring_slow, . - sj_ring_slow\n"
    ".popsection\n");
#endif

void sj_ring_forget(void) {
  sj_ring_self = (struct sj_ring*)(void*)&no_ring;
}

int sj_thread_prepare(void) {
  if (is_alive(sj_ring_self)) return 1;
  return sj_ring_take();
}
