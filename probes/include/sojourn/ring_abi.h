/*
 * The rings: shared memory between a target (producer) and a collector outside of it. This is the
 * one contract between the two; both include this file.
 *
 * Every module with points (the executable, each library) has one arena: a memfd named
 * SJ_ARENA_NAME, or a file in $SJ_RING_DIR. The collector finds it among the process's mappings.
 *
 *   struct sj_arena                what is where; what the collector asks for
 *   flags     u16 a point          mapped over the module's section of that name, read by every hit
 *   slots     struct sj_ring_slot  which ring is whose
 *   queues    struct sj_queue      SJ_QUEUE_TABLES tables of queues: see there
 *   rings     struct sj_ring ...   `ring_slots` of them, `ring_stride` bytes each, without memory
 *                                  until they are taken or prepared:
 *       + 0                        struct sj_ring
 *       + SJ_RING_PRIVATE          in the target a private page (struct sj_ring_private) instead
 *       + SJ_RING_DATA             `capacity` bytes, then one record's worth of overhang
 *
 * Positions (cursor, limit) are bytes counted from 0 upwards and never wrap; a position's place is
 * `position & mask`. A record that begins inside may end in the overhang, so there is no wrapping
 * inside of records.
 *
 * Who writes what. A ring's owner (one thread) writes records, then the cursor. The collector reads
 * up to the cursor, then raises `limit`, beyond which the owner may not write. So neither ever
 * waits: an owner that reaches the limit counts a loss and goes on.
 *
 * Fields that both sides use are accessed with __atomic built-ins only. All that a collector reads
 * here is hostile until checked: the target may have been broken into.
 */
#ifndef SOJOURN_RING_ABI_H
#define SOJOURN_RING_ABI_H

#include <stdint.h>

#ifdef __cplusplus
#define SJ_ABI_ASSERT(condition, why) static_assert(condition, why)
#else
#define SJ_ABI_ASSERT(condition, why) _Static_assert(condition, why)
#endif

#define SJ_ARENA_NAME "sojourn-rings"
#define SJ_ARENA_MAGIC 0x31474e52204a53ULL /* "SJ RNG1" */
#define SJ_ARENA_VERSION 1

/* The largest page that the architecture's kernels use: private pages need to be whole ones. */
#if defined(__aarch64__)
#define SJ_RING_PAGE 65536
#else
#define SJ_RING_PAGE 4096
#endif

#define SJ_RING_PRIVATE SJ_RING_PAGE
#define SJ_RING_DATA (2 * SJ_RING_PAGE)
#define SJ_RING_CLOSED INT64_MIN /* a limit: nothing may be written */

/* A point's flags. */
#define SJ_FLAG_RING 1u /* a collector wants it in the rings */
#define SJ_FLAG_OFF 2u  /* switched off for all engines */

/* ---- a record: the header, then the values one behind the other, each in its declared width ----
 */

struct sj_ring_record {
  uint32_t stamp_low; /* the cycle counter (rdtsc, cntvct_el0), in two halves: 12 bytes in all */
  uint32_t stamp_high;
  uint32_t id; /* low half of the ring site's address in the running target */
};
#define SJ_RECORD_HEADER_BYTES 12
#define SJ_RECORD_ALIGN 8 /* every record's size is a multiple of it */
#define SJ_RECORD_MAX_BYTES 144
SJ_ABI_ASSERT(sizeof(struct sj_ring_record) == SJ_RECORD_HEADER_BYTES, "shared with collectors");

/* ---- a ring ---- */

/* `count` hits in a row found no room while the cursor stood at `position`. */
struct sj_ring_gap {
  int64_t position;
  uint64_t count;
};
#define SJ_RING_GAPS 32

/* How many of one site's hits found no room. */
struct sj_ring_loss {
  uint32_t id; /* 0: free */
  uint32_t pad;
  uint64_t count;
};
#define SJ_RING_LOSSES 176

/* Flight recorder: the ring is cut into this many chunks. */
#define SJ_RING_CHUNKS 16

enum sj_ring_mode {
  SJ_RING_STOP = 0,   /* full: hits are lost and counted */
  SJ_RING_FLIGHT = 1, /* full: the oldest chunk is written over */
};

struct sj_ring {
  /* Set by a thread when it takes the ring, `owner` last. */
  uint64_t owner; /* pid << 32 | tid, as their namespace counts; 0: no owner */
  uint64_t claimed_stamp;
  uint32_t mode; /* enum sj_ring_mode */
  uint32_t session;
  char thread_name[16];
  uint8_t pad0[24];

  /* The owner's, written at every hit. */
  int64_t cursor; /* everything below is whole */
  uint64_t lost;  /* the sum of all gaps ever */
  uint32_t gaps_begun;
  uint32_t losses_elsewhere; /* hits of sites that found no place in `losses` */
  uint8_t pad1[40];

  /* The collector's; in flight mode the owner's. Every hit reads it. */
  int64_t limit;
  uint64_t mask;   /* capacity - 1; the capacity is a power of two. Set with `owner` */
  uint32_t retire; /* the owner shall take another ring: this one has the wrong size */
  uint8_t pad2[44];

  /* Gap n is entry n % SJ_RING_GAPS. Between two raises of the limit there are only a few. */
  struct sj_ring_gap gap[SJ_RING_GAPS];
  struct sj_ring_loss loss[SJ_RING_LOSSES];

  /* Flight mode: where the first record that ends in chunk n (n % SJ_RING_CHUNKS) begins. */
  int64_t chunk[SJ_RING_CHUNKS];
  uint8_t pad3[448];
};
SJ_ABI_ASSERT(sizeof(struct sj_ring) == 4096, "shared with collectors");
SJ_ABI_ASSERT(sizeof(struct sj_ring) <= SJ_RING_PAGE, "the cursor's page comes next");

/* Memory that a fork wipes, because a child owns no ring. A hit writes `reserved` and soon reads
 * limit, mask and cursor. If two of them had the same offset in their pages, the processor would
 * confuse them for a moment, which costs a nanosecond. */
struct sj_ring_private {
  uint32_t alive;
  uint32_t pad;
  int64_t reserved; /* the cursor, once all hits that have begun are whole */
};
SJ_ABI_ASSERT(__builtin_offsetof(struct sj_ring, limit) >= sizeof(struct sj_ring_private) &&
                  __builtin_offsetof(struct sj_ring, mask) >= sizeof(struct sj_ring_private) &&
                  __builtin_offsetof(struct sj_ring, cursor) >= sizeof(struct sj_ring_private),
              "not at the same place of their pages");

/* A table of all rings. A ring is taken by one exchange in the table, and only its owner touches
 * its memory. The collector frees rings that were drained and have no owner any more. */
struct sj_ring_slot {
  uint64_t taken;     /* the owner, as in sj_ring.owner; 0: free */
  uint64_t populated; /* bytes of data that have memory */
};

/* ---- a queue ----
 *
 * There are SJ_QUEUE_TABLES tables in the file. The first is for queues that join processes and is
 * one for all who share the arena. Each of the others belongs to one process (sj_arena.queue_table
 * says which): the second to the one that made the arena, the next ones to forked children, which
 * have copies of their parent's queues and so copies of their counters.
 *
 * The counters only rise while a queue is there. Reading: `state` is SJ_QUEUE_LIVE, `id`, `out`,
 * `in`, `out` again, `id` again; equal outs make it exact for the moment of `in`. An item is
 * counted when it is in, or out; where counting is not under the queue's lock, an out can be seen
 * before its in, so `out` may be ahead by the number of threads that are in the middle of an
 * operation.
 *
 * `about` is whole where `generation` is even and the same before and after reading it. Both sides
 * access it in words of 8 bytes.
 */

enum sj_queue_kind {
  SJ_QUEUE_STAGE = 0,
  SJ_QUEUE_POOL = 1, /* of memory: empty is the bad state */
  SJ_QUEUE_BIDIRECTIONAL = 2,
  SJ_QUEUE_BETWEEN_PROCESSES = 3,
};

enum sj_queue_state {
  SJ_QUEUE_FREE = 0,    /* the counters and the description are those of the last one here */
  SJ_QUEUE_CLAIMED = 1, /* being filled in */
  SJ_QUEUE_LIVE = 2,
};

#define SJ_QUEUE_NAME_BYTES 64
#define SJ_QUEUE_STAGE_BYTES 24

/* The producer or the consumer of a queue. Blank ("" and -1) while not known. */
struct sj_queue_side {
  char stage[SJ_QUEUE_STAGE_BYTES];
  int32_t instance;
  int32_t pid; /* as its namespace counts; 0: this process, or not known yet */
};

struct sj_queue_about {
  char name[SJ_QUEUE_NAME_BYTES]; /* a name that fills it has no end mark, as the stages */
  struct sj_queue_side producer;
  struct sj_queue_side consumer;
  uint32_t kind;     /* enum sj_queue_kind; never changes */
  uint32_t group;    /* or the pool's id; 0: none */
  uint64_t capacity; /* items; 0: not bounded */
  uint64_t address;  /* of the queue in the target, for people; 0: not known */
};

struct sj_queue {
  uint64_t in; /* items ever put in; a line of its own */
  uint8_t pad0[56];
  uint64_t out; /* items ever taken out; a line of its own */
  uint8_t pad1[56];

  uint32_t state;      /* enum sj_queue_state */
  uint32_t generation; /* of the description; odd: it is being written */
  uint64_t id;         /* not 0; of this queue alone among those of the process and its libraries */
  struct sj_queue_about about;
  uint8_t pad2[24];
};
SJ_ABI_ASSERT(sizeof(struct sj_queue_about) == 152, "shared with collectors");
SJ_ABI_ASSERT(sizeof(struct sj_queue) == 320, "shared with collectors");

#define SJ_QUEUE_TABLES 16
#define SJ_QUEUE_TABLE_JOINT 0 /* queues between processes */
#define SJ_QUEUE_TABLE_FIRST 1 /* of the process that made the arena */

struct sj_queue_table {
  int32_t pid;   /* its process; 0: no process yet, or all of them */
  uint32_t used; /* no slot from here on was ever taken */
};

/* ---- the arena ---- */

/* The requests of the collector. Written while SJ_FLAG_RING is off everywhere, except the
 * heartbeat. */
struct sj_arena_control {
  uint32_t session; /* one more with every collector; odd: one is attached */
  uint32_t mode;    /* enum sj_ring_mode */
  uint64_t
      ring_bytes; /* of rings that are taken from now on; a power of two, 0: ring_bytes_default */
  uint64_t memory_ceiling; /* of all rings together; 0: memory_ceiling_default */
  uint64_t open_stamp;     /* losses count between these two */
  uint64_t close_stamp;
  uint64_t heartbeat;  /* the cycle counter when the collector last looked */
  uint64_t dead_after; /* ticks without a heartbeat: it is dead, and hits stop trying. 0: never */
};

/* The clocks, read one right after the other: what turns stamps into times for a reader who comes
 * when the target is gone. */
struct sj_clock_reading {
  uint64_t stamp; /* in the middle of reading `monotonic_ns`; 0: there is no reading */
  uint64_t ticks; /* which took so long */
  uint64_t monotonic_ns;
  uint64_t realtime_ns;
  uint64_t tai_ns;
};

#define SJ_MODULE_PATH_BYTES 512
#define SJ_MODULE_BUILD_ID_BYTES 32

/* Which file the module is, for the same reader. */
struct sj_module {
  char path[SJ_MODULE_PATH_BYTES]; /* as the target names it, with an end mark; "": not known */
  uint8_t build_id[SJ_MODULE_BUILD_ID_BYTES];
  uint32_t build_id_bytes; /* 0: it has none */
  uint32_t pad;
};

struct sj_arena {
  uint64_t magic;
  uint32_t version;
  uint32_t page_bytes;   /* SJ_RING_PAGE */
  uint64_t total_bytes;  /* of the file */
  uint64_t code_address; /* of one instruction in the module: tells which module this is */

  uint64_t flags_address; /* in the target */
  uint64_t flags_offset;  /* in the file, as the following ones */
  uint64_t flags_bytes;

  uint64_t queues_offset; /* of the first table */
  uint64_t queue_slots;   /* in each table */

  uint64_t slots_offset; /* struct sj_ring_slot, ring_slots of them */
  uint64_t rings_offset;
  uint64_t ring_slots;
  uint64_t ring_stride;

  uint64_t ring_bytes_default;
  uint64_t memory_ceiling_default;
  int32_t pid;   /* of the process that made it */
  uint32_t gone; /* the module was unloaded */

  struct sj_arena_control control;
  uint8_t pad1[64];

  uint64_t memory_used; /* by rings */
  uint64_t slots_used;  /* slots from here on were never taken */
  uint32_t refused_elsewhere;
  uint32_t pad_refused;
  uint64_t queues_refused; /* registrations that found no place */
  uint64_t queue_table_stride;
  struct sj_queue_table queue_table[SJ_QUEUE_TABLES];
  uint8_t pad2[24];

  /* Hits of threads that got no ring. */
  struct sj_ring_loss refused[SJ_RING_LOSSES];

  struct sj_module module;
  struct sj_clock_reading first_clocks;  /* when the module was loaded */
  struct sj_clock_reading newest_clocks; /* when a thread last took a ring */
  uint32_t clocks_writer;                /* 1: somebody is writing the newest, or died doing so */
  uint32_t pad3;
};
SJ_ABI_ASSERT(sizeof(struct sj_arena) <= 4096, "the flags come next, on a page of their own");

#endif
