/*
 * The runtime behind the ring engine, one copy in each module that has points. arena.c makes the
 * shared memory when the module is loaded, module.c says which file that is; ring_slow.c runs when
 * a hit has no room; queues.c registers queues. They share what is here. No locks, no allocation;
 * nothing here runs before a module is loaded or unless a hit needs it.
 */
#ifndef SOJOURN_PROBES_RINGS_H
#define SOJOURN_PROBES_RINGS_H

#include <sojourn/ring_abi.h>
#include <stddef.h>

#define SJ_HIDDEN __attribute__((visibility("hidden")))

#define SJ_MAX_RING_SLOTS 512

/* This process's own view of the arena. A forked child inherits it together with the mappings, so
 * it stays valid there. */
struct sj_runtime {
  struct sj_arena* arena; /* null: no ring engine in this module */
  struct sj_ring_slot* slots;
  char* rings;
  struct sj_queue_table* queue_table; /* this process's own */
  uint8_t mapped[SJ_MAX_RING_SLOTS];  /* slots that are accessible here */
};
extern struct sj_runtime sj_runtime SJ_HIDDEN;

/* Makes a slot's memory accessible and present, for `capacity` bytes of data. 0: there is none. */
int sj_ring_prepare(uint64_t slot, uint64_t capacity) SJ_HIDDEN;

/* Takes a ring for the calling thread. 0: there is none. */
int sj_ring_take(void) SJ_HIDDEN;

/* 0: the clocks cannot be read here. */
int sj_read_clocks(struct sj_clock_reading* reading) SJ_HIDDEN;

/* Finds which file this module is. Members that cannot be found out stay empty. */
void sj_find_module(struct sj_module* module) SJ_HIDDEN;

/* Removes the arenas of modules that this process has unloaded; own_code is an address in the
 * calling module. */
void sj_remove_unloaded_arenas(uint64_t own_code) SJ_HIDDEN;

/* Makes the calling thread forget its ring: it runs in a forked child, and the ring is its
 * parent's. */
void sj_ring_forget(void) SJ_HIDDEN;

/* Called in a forked child: its queues are copies with counters of their own from here on. */
void sj_queues_fork(void) SJ_HIDDEN;

static inline struct sj_ring* sj_ring_at(uint64_t slot) {
  return (struct sj_ring*)(void*)(sj_runtime.rings + slot * sj_runtime.arena->ring_stride);
}

#endif
