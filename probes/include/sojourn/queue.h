/*
 * Queues that can be watched from outside: a name, who feeds and who drains it, and two counters in
 * shared memory, each on a cache line of its own. A sampler reads them without the target noticing.
 *
 *   struct sj_queue* q = SJ_QUEUE("rlc.tx", .kind = SJ_QUEUE_STAGE, .producer = {"pdcp", 0},
 *                                 .consumer = {"mac", 0}, .capacity = 1024);
 *   SJ_ENQUEUE(q);         after an item went in;  SJ_DEQUEUE(q) after one came out
 *   SJ_QUEUE_END(q);       once, when the queue goes
 *
 * SJ_QUEUE never fails and never returns null: where there is no place, the counters are private
 * ones that nobody sees, and the refusal is counted. All of it may be called from any thread at any
 * time and from signal handlers; nothing locks, allocates or makes a system call. A forked child
 * has copies of its parent's queues with counters of their own (SJ_QUEUE_BETWEEN_PROCESSES: the
 * same counters); a child of a raw clone() counts in its parent's. C11, C++17 and later;
 * <sojourn/queue.hpp> does it for a C++ class in one line. Needs -DSJ_RINGS and the runtime
 * library, as the packages set it; otherwise, and with SJ_NO_RINGS or SJ_DISABLE_POINTS, all of it
 * compiles to nothing.
 */
#ifndef SOJOURN_QUEUE_H
#define SOJOURN_QUEUE_H

#include <sojourn/point.h>
#include <sojourn/ring_abi.h>
#include <stdint.h>

#ifdef __cplusplus
#define SJ_QUEUE_BLANK_(value) = value
#define SJ_QUEUE_SPEC_(...) (__extension__ sj_queue_spec{__VA_ARGS__})
#else
#define SJ_QUEUE_BLANK_(value)
#define SJ_QUEUE_SPEC_(...) ((struct sj_queue_spec){__VA_ARGS__})
#endif

/* A stage by its type and which one of that type. No stage: not known yet, whatever the instance.
 */
struct sj_queue_stage {
  const char* stage SJ_QUEUE_BLANK_(nullptr);
  int32_t instance SJ_QUEUE_BLANK_(0); /* -1: not known yet */
};

/* The arguments of SJ_QUEUE and SJ_QUEUE_DESCRIBE. Members that are left out are blank. Texts are
 * copied, and cut where they are longer than SJ_QUEUE_NAME_BYTES and SJ_QUEUE_STAGE_BYTES. */
struct sj_queue_spec {
  const char* name SJ_QUEUE_BLANK_(nullptr);
  enum sj_queue_kind kind SJ_QUEUE_BLANK_(SJ_QUEUE_STAGE);
  struct sj_queue_stage producer SJ_QUEUE_BLANK_({});
  struct sj_queue_stage consumer SJ_QUEUE_BLANK_({});
  int32_t producer_pid SJ_QUEUE_BLANK_(0); /* where the queue joins two processes */
  int32_t consumer_pid SJ_QUEUE_BLANK_(0);
  uint32_t group SJ_QUEUE_BLANK_(0);            /* or the pool's id, counted from 1; 0: none */
  uint64_t capacity SJ_QUEUE_BLANK_(0);         /* items; 0: not bounded */
  const void* address SJ_QUEUE_BLANK_(nullptr); /* of the queue itself, for people */
};

#if defined(SJ_HAS_RINGS_) && !defined(SJ_DISABLE_POINTS)

/* Functions of this module's runtime: hidden, as each module has its own. */
#ifdef __cplusplus
extern "C" {
#endif
#define SJ_QUEUE_HIDDEN_ __attribute__((visibility("hidden")))
struct sj_queue* sj_queue_open(const struct sj_queue_spec* spec) SJ_QUEUE_HIDDEN_;
int sj_queue_describe(struct sj_queue* queue, const struct sj_queue_spec* spec) SJ_QUEUE_HIDDEN_;
void sj_queue_close(struct sj_queue* queue) SJ_QUEUE_HIDDEN_;
#ifdef __cplusplus
}
#endif

/* For any number of threads at once. An out is a release, so that a reader that sees it (acquire)
 * also sees the in that came before it. */
static inline void sj_queue_in(struct sj_queue* queue, uint64_t items) {
  __atomic_fetch_add(&queue->in, items, __ATOMIC_RELAXED);
}
static inline void sj_queue_out(struct sj_queue* queue, uint64_t items) {
  __atomic_fetch_add(&queue->out, items, __ATOMIC_RELEASE);
}

/* For a caller that holds the queue's lock, or is the only producer (consumer): no locked
 * instruction. */
static inline void sj_queue_in_locked(struct sj_queue* queue, uint64_t items) {
  const uint64_t in = __atomic_load_n(&queue->in, __ATOMIC_RELAXED);
  __atomic_store_n(&queue->in, in + items, __ATOMIC_RELAXED);
}
static inline void sj_queue_out_locked(struct sj_queue* queue, uint64_t items) {
  const uint64_t out = __atomic_load_n(&queue->out, __ATOMIC_RELAXED);
  __atomic_store_n(&queue->out, out + items, __ATOMIC_RELEASE);
}

/* The depth: exact under the queue's lock, else the depth at some moment close to now. */
static inline uint64_t sj_queue_depth(const struct sj_queue* queue) {
  const uint64_t out = __atomic_load_n(&queue->out, __ATOMIC_ACQUIRE);
  const uint64_t in = __atomic_load_n(&queue->in, __ATOMIC_RELAXED);
  return in > out ? in - out : 0;
}

/* The queue's id in events of SJ_ENQUEUE_ITEM; 0: its counters are private. */
static inline uint64_t sj_queue_id(const struct sj_queue* queue) {
  return __atomic_load_n(&queue->id, __ATOMIC_RELAXED);
}

#define SJ_QUEUE_EVENT_(words, queue, item) \
  SJ_POINT(words, "depth:queue:item", sj_queue_depth(queue), sj_queue_id(queue), (item))

#else

/* A placeholder: the caller may only pass it on, also to code that is compiled to count. */
static inline struct sj_queue* sj_queue_open(const struct sj_queue_spec* spec) {
  static struct sj_queue none __attribute__((aligned(64)));
  (void)spec;
  return &none;
}
static inline int sj_queue_describe(struct sj_queue* queue, const struct sj_queue_spec* spec) {
  (void)queue, (void)spec;
  return 0;
}
static inline void sj_queue_close(struct sj_queue* queue) {
  (void)queue;
}
static inline void sj_queue_in(struct sj_queue* queue, uint64_t items) {
  (void)queue, (void)items;
}
static inline void sj_queue_out(struct sj_queue* queue, uint64_t items) {
  (void)queue, (void)items;
}
static inline void sj_queue_in_locked(struct sj_queue* queue, uint64_t items) {
  (void)queue, (void)items;
}
static inline void sj_queue_out_locked(struct sj_queue* queue, uint64_t items) {
  (void)queue, (void)items;
}
static inline uint64_t sj_queue_depth(const struct sj_queue* queue) {
  (void)queue;
  return 0;
}
static inline uint64_t sj_queue_id(const struct sj_queue* queue) {
  (void)queue;
  return 0;
}

#define SJ_QUEUE_EVENT_(words, queue, item) \
  do {                                      \
    if (0) (void)(queue), (void)(item);     \
  } while (0)

#endif

/* SJ_QUEUE registers a queue: its name, then members of struct sj_queue_spec in their order.
 * SJ_QUEUE_DESCRIBE fills in members that were blank; omitted members, and the kind, stay as they
 * are. It returns false while another thread describes this queue: try again later. */
#ifdef __cplusplus
namespace sojourn {
inline sj_queue* open_queue(const sj_queue_spec& spec) {
  return sj_queue_open(&spec);
}
inline bool describe_queue(sj_queue* queue, const sj_queue_spec& spec) {
  return sj_queue_describe(queue, &spec) != 0;
}
}  // namespace sojourn
#define SJ_QUEUE(...) ::sojourn::open_queue(SJ_QUEUE_SPEC_(.name = __VA_ARGS__))
#define SJ_QUEUE_DESCRIBE(queue, ...) \
  ::sojourn::describe_queue((queue), SJ_QUEUE_SPEC_(__VA_ARGS__))
#else
#define SJ_QUEUE(...) sj_queue_open(&SJ_QUEUE_SPEC_(.name = __VA_ARGS__))
#define SJ_QUEUE_DESCRIBE(queue, ...) sj_queue_describe((queue), &SJ_QUEUE_SPEC_(__VA_ARGS__))
#endif
/* SJ_QUEUE_DESCRIBE fills in members that were blank; omitted members, and the kind, stay as they
 * are. Returns false while another thread describes this queue: try again later. */

/* Gives the queue's place back. Another queue may take it: the caller counts nothing here any more.
 */
#define SJ_QUEUE_END(queue) sj_queue_close(queue)

#define SJ_ENQUEUE(queue) sj_queue_in((queue), 1)
#define SJ_DEQUEUE(queue) sj_queue_out((queue), 1)
#define SJ_ENQUEUE_N(queue, items) sj_queue_in((queue), (items))
#define SJ_DEQUEUE_N(queue, items) sj_queue_out((queue), (items))

#define SJ_ENQUEUE_LOCKED(queue) sj_queue_in_locked((queue), 1)
#define SJ_DEQUEUE_LOCKED(queue) sj_queue_out_locked((queue), 1)
#define SJ_ENQUEUE_LOCKED_N(queue, items) sj_queue_in_locked((queue), (items))
#define SJ_DEQUEUE_LOCKED_N(queue, items) sj_queue_out_locked((queue), (items))

/* Counts, and is a point as well: its event has the depth after the operation, the queue's id and
 * the item's identity, an integer. It costs what a point costs; `item` is evaluated only while it
 * is traced. */
#define SJ_ENQUEUE_ITEM(queue, item)                          \
  do {                                                        \
    struct sj_queue* const sj_item_queue = (queue);           \
    sj_queue_in(sj_item_queue, 1);                            \
    SJ_QUEUE_EVENT_("I queue--enqueue", sj_item_queue, item); \
  } while (0)
#define SJ_DEQUEUE_ITEM(queue, item)                          \
  do {                                                        \
    struct sj_queue* const sj_item_queue = (queue);           \
    sj_queue_out(sj_item_queue, 1);                           \
    SJ_QUEUE_EVENT_("I queue--dequeue", sj_item_queue, item); \
  } while (0)
#define SJ_ENQUEUE_ITEM_LOCKED(queue, item)                   \
  do {                                                        \
    struct sj_queue* const sj_item_queue = (queue);           \
    sj_queue_in_locked(sj_item_queue, 1);                     \
    SJ_QUEUE_EVENT_("I queue--enqueue", sj_item_queue, item); \
  } while (0)
#define SJ_DEQUEUE_ITEM_LOCKED(queue, item)                   \
  do {                                                        \
    struct sj_queue* const sj_item_queue = (queue);           \
    sj_queue_out_locked(sj_item_queue, 1);                    \
    SJ_QUEUE_EVENT_("I queue--dequeue", sj_item_queue, item); \
  } while (0)

#endif
