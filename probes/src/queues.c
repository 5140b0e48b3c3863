/*
 * The registry of queues: slots of shared memory, taken and given back by one exchange each, so
 * that any thread and any signal handler may come here at any time. No thread waits for another:
 * one that finds a slot in use takes the next one, or gives up.
 *
 * This process's table is always at the same place in memory. In a forked child that place is given
 * other memory with the same contents: the child's pointers stay true and its parent's counters
 * stay its parent's, as it is with the queues themselves.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <signal.h>
#include <sojourn/queue.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "rings.h"

typedef uint64_t __attribute__((may_alias)) sj_word;

enum {
  kAboutWords = sizeof(struct sj_queue_about) / sizeof(sj_word),
  kPrivateQueues = 16,
  kPatience = 1000,
};
_Static_assert(sizeof(struct sj_queue_about) % sizeof(sj_word) == 0, "copied in words");

static const unsigned kIncarnationShift = 48; /* above all addresses of user space */

/* Counters for queues that found no place. There are several, so that unrelated threads seldom
 * share a cache line. */
static struct sj_queue private_queues[kPrivateQueues] __attribute__((aligned(64)));

static struct sj_queue* private_queue(void) {
  static uint32_t next;
  return &private_queues[__atomic_fetch_add(&next, 1, __ATOMIC_RELAXED) % kPrivateQueues];
}

static struct sj_queue* table_at(uint64_t table) {
  const struct sj_arena* const arena = sj_runtime.arena;
  return (struct sj_queue*)(void*)((char*)sj_runtime.arena + arena->queues_offset +
                                   table * arena->queue_table_stride);
}

/* ---- the description ---- */

/* Makes the generation odd, which locks the description. Others give up soon instead of waiting,
 * since the holder may be the very thread that a signal handler interrupted. */
static int begin_writing(struct sj_queue* queue) {
  for (int tries = 0; tries < kPatience; ++tries) {
    uint32_t generation = __atomic_load_n(&queue->generation, __ATOMIC_RELAXED);
    if (generation % 2 == 0 &&
        __atomic_compare_exchange_n(&queue->generation, &generation, generation + 1, 0,
                                    __ATOMIC_ACQUIRE, __ATOMIC_RELAXED))
      return 1;
  }
  return 0;
}

static void end_writing(struct sj_queue* queue) {
  __atomic_fetch_add(&queue->generation, 1, __ATOMIC_RELEASE);
}

/* Each word is a release: a reader that sees one (acquire) also sees the odd generation before it.
 */
static void put_about(struct sj_queue* queue, const struct sj_queue_about* about) {
  const sj_word* const from = (const sj_word*)(const void*)about;
  sj_word* const to = (sj_word*)(void*)&queue->about;
  for (unsigned i = 0; i < kAboutWords; ++i) __atomic_store_n(&to[i], from[i], __ATOMIC_RELEASE);
}

static void get_about(const struct sj_queue* queue, struct sj_queue_about* about) {
  const sj_word* const from = (const sj_word*)(const void*)&queue->about;
  sj_word* const to = (sj_word*)(void*)about;
  for (unsigned i = 0; i < kAboutWords; ++i) to[i] = __atomic_load_n(&from[i], __ATOMIC_ACQUIRE);
}

static void put_text(char* to, uint64_t bytes, const char* from) {
  memset(to, 0, bytes);
  for (uint64_t i = 0; i < bytes && from[i] != '\0'; ++i) to[i] = from[i];
}

static int is_known(const char* text) {
  return text != NULL && text[0] != '\0';
}

static void fill_in_side(struct sj_queue_side* side, const struct sj_queue_stage* stage,
                         int32_t pid) {
  if (is_known(stage->stage)) {
    put_text(side->stage, sizeof(side->stage), stage->stage);
    side->instance = stage->instance;
  }
  if (pid != 0) side->pid = pid;
}

static void fill_in(struct sj_queue_about* about, const struct sj_queue_spec* spec) {
  if (is_known(spec->name)) put_text(about->name, sizeof(about->name), spec->name);
  fill_in_side(&about->producer, &spec->producer, spec->producer_pid);
  fill_in_side(&about->consumer, &spec->consumer, spec->consumer_pid);
  if (spec->group != 0) about->group = spec->group;
  if (spec->capacity != 0) about->capacity = spec->capacity;
  if (spec->address != NULL) about->address = (uint64_t)(uintptr_t)spec->address;
}

/* ---- taking a slot and giving it back ---- */

static void note_used(struct sj_queue_table* table, uint32_t used) {
  uint32_t before = __atomic_load_n(&table->used, __ATOMIC_RELAXED);
  while (before < used && !__atomic_compare_exchange_n(&table->used, &before, used, 0,
                                                       __ATOMIC_RELEASE, __ATOMIC_RELAXED)) {
  }
}

/* Clears the id while the counters belong neither to the old queue nor to the new one. */
static void begin_counting(struct sj_queue* queue) {
  const uint64_t incarnation = (queue->id >> kIncarnationShift) + 1;
  __atomic_store_n(&queue->id, 0, __ATOMIC_RELAXED);
  __atomic_store_n(&queue->out, 0, __ATOMIC_RELEASE);
  __atomic_store_n(&queue->in, 0, __ATOMIC_RELEASE);
  __atomic_store_n(&queue->id, incarnation << kIncarnationShift | (uint64_t)(uintptr_t)queue,
                   __ATOMIC_RELEASE);
}

static int take(struct sj_queue* queue, const struct sj_queue_about* about) {
  uint32_t state = __atomic_load_n(&queue->state, __ATOMIC_RELAXED);
  if (state != SJ_QUEUE_FREE ||
      !__atomic_compare_exchange_n(&queue->state, &state, SJ_QUEUE_CLAIMED, 0, __ATOMIC_ACQUIRE,
                                   __ATOMIC_RELAXED))
    return 0;
  /* Another thread still writes the description of the queue that was here. */
  if (!begin_writing(queue)) {
    __atomic_store_n(&queue->state, SJ_QUEUE_FREE, __ATOMIC_RELEASE);
    return 0;
  }
  put_about(queue, about);
  end_writing(queue);
  begin_counting(queue);
  return 1;
}

struct sj_queue* sj_queue_open(const struct sj_queue_spec* spec) {
  struct sj_arena* const arena = sj_runtime.arena;
  if (arena == NULL) return private_queue();
  struct sj_queue_about about = {.producer.instance = -1, .consumer.instance = -1};
  fill_in(&about, spec);
  about.kind = (uint32_t)spec->kind;

  const int joint = spec->kind == SJ_QUEUE_BETWEEN_PROCESSES;
  struct sj_queue* const slots = table_at(joint ? SJ_QUEUE_TABLE_JOINT : SJ_QUEUE_TABLE_FIRST);
  struct sj_queue_table* const table =
      joint ? &arena->queue_table[SJ_QUEUE_TABLE_JOINT] : sj_runtime.queue_table;
  for (uint32_t slot = 0; slot < arena->queue_slots; ++slot) {
    if (!take(&slots[slot], &about)) continue;
    note_used(table, slot + 1);
    __atomic_store_n(&slots[slot].state, SJ_QUEUE_LIVE, __ATOMIC_RELEASE);
    return &slots[slot];
  }
  __atomic_fetch_add(&arena->queues_refused, 1, __ATOMIC_RELAXED);
  return private_queue();
}

int sj_queue_describe(struct sj_queue* queue, const struct sj_queue_spec* spec) {
  if (sj_queue_id(queue) == 0) return 1; /* its counters are private */
  if (!begin_writing(queue)) return 0;
  struct sj_queue_about about;
  get_about(queue, &about);
  fill_in(&about, spec);
  put_about(queue, &about);
  end_writing(queue);
  return 1;
}

/* Leaves the counters as they are: a sampler may still read their last values. */
void sj_queue_close(struct sj_queue* queue) {
  uint32_t state = SJ_QUEUE_LIVE;
  __atomic_compare_exchange_n(&queue->state, &state, SJ_QUEUE_FREE, 0, __ATOMIC_RELEASE,
                              __ATOMIC_RELAXED);
}

/* ---- fork ---- */

/* Copies a queue for a child while the parent goes on. Operations that other threads had begun here
 * are never finished in the child. */
static void copy_queue(struct sj_queue* to, const struct sj_queue* from) {
  to->id = __atomic_load_n(&from->id, __ATOMIC_ACQUIRE);
  to->out = __atomic_load_n(&from->out, __ATOMIC_ACQUIRE);
  to->in = __atomic_load_n(&from->in, __ATOMIC_ACQUIRE);
  uint32_t generation = 0;
  for (int tries = 0; tries < kPatience; ++tries) {
    generation = __atomic_load_n(&from->generation, __ATOMIC_ACQUIRE);
    get_about(from, &to->about);
    if (generation % 2 == 0 && generation == __atomic_load_n(&from->generation, __ATOMIC_RELAXED))
      break;
  }
  to->generation = generation + generation % 2;
  const int live = __atomic_load_n(&from->state, __ATOMIC_ACQUIRE) == SJ_QUEUE_LIVE;
  to->state = live ? SJ_QUEUE_LIVE : SJ_QUEUE_FREE;
}

static void copy_queues(struct sj_queue* to, const struct sj_queue* from, uint32_t used) {
  for (uint32_t slot = 0; slot < used; ++slot) copy_queue(&to[slot], &from[slot]);
}

/* Takes a table that is free, or belongs to a child that has ended; 0: there is none. */
static uint64_t take_table(struct sj_arena* arena, int32_t pid) {
  for (uint64_t table = SJ_QUEUE_TABLE_FIRST + 1; table < SJ_QUEUE_TABLES; ++table) {
    int32_t before = __atomic_load_n(&arena->queue_table[table].pid, __ATOMIC_ACQUIRE);
    if (before != 0 && (kill(before, 0) == 0 || errno != ESRCH)) continue;
    if (__atomic_compare_exchange_n(&arena->queue_table[table].pid, &before, pid, 0,
                                    __ATOMIC_ACQ_REL, __ATOMIC_RELAXED))
      return table;
  }
  return 0;
}

/* Maps the child's table a second time, in place of the parent's (mremap from a size of 0). */
static int share_table(uint64_t table, uint32_t used) {
  struct sj_arena* const arena = sj_runtime.arena;
  struct sj_queue* const place = table_at(SJ_QUEUE_TABLE_FIRST);
  struct sj_queue* const copy = table_at(table);
  const uint64_t bytes = arena->queue_table_stride;
  struct sj_queue_table* const entry = &arena->queue_table[table];
  const uint32_t old = __atomic_exchange_n(&entry->used, 0, __ATOMIC_ACQ_REL);
  if (mprotect(copy, bytes, PROT_READ | PROT_WRITE) != 0) return 0;
  memset(copy, 0, old * sizeof(struct sj_queue));
  copy_queues(copy, place, used);
  if (mremap(copy, 0, bytes, MREMAP_MAYMOVE | MREMAP_FIXED, place) != (void*)place) return 0;
  __atomic_store_n(&entry->used, used, __ATOMIC_RELEASE);
  sj_runtime.queue_table = entry;
  return 1;
}

/* Gives a child for which no shared table is left private memory to count in. */
static void hide_table(void) {
  static struct sj_queue_table hidden;
  void* const place = table_at(SJ_QUEUE_TABLE_FIRST);
  mmap(place, sj_runtime.arena->queue_table_stride, PROT_READ | PROT_WRITE,
       MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
  sj_runtime.queue_table = &hidden;
}

void sj_queues_fork(void) {
  struct sj_arena* const arena = sj_runtime.arena;
  if (arena == NULL || arena->queue_slots == 0) return;
  const int saved_errno = errno;
  const uint32_t used = __atomic_load_n(&sj_runtime.queue_table->used, __ATOMIC_ACQUIRE);
  const uint64_t table = take_table(arena, (int32_t)getpid());
  if (table == 0 || !share_table(table, used)) hide_table();
  errno = saved_errno;
}
