/* The ring's protocol (probes/include/sojourn/detail/ring_write.h), for spin: one thread that hits points, its
 * own signal handlers between any two of its instructions, and a collector, on a machine whose stores become
 * visible in any order but for releases. Every interleaving of a few hits in a ring of two records is tried.
 *
 * Claims: the collector reads every record as it was written, in the order of stamps; the cursor never steps
 * back; once everybody is done, nothing is left unpublished. -D of one of the words below takes away one
 * ingredient, and spin must then find a counterexample: NO_RELEASE, NO_ACQUIRE, LIMIT_BEFORE_READ,
 * PLAIN_RESERVE, PLAIN_PUBLISH, NESTED_PUBLISH, STAMP_FIRST. */

#define SLOTS 2
#define HITS 3
#define SIGNALS 2
#define MOST 6 /* more than all hits and signals together */

/* Shared memory, as others see it. A position counts records. */
byte data[SLOTS];
byte cursor;
byte limit = SLOTS;

/* The thread's stores that others do not see yet. */
bool data_pending[SLOTS];
byte data_value[SLOTS];
bool cursor_pending;
byte cursor_value;

byte reserved; /* the thread's own */
byte clock = 1;
byte signals = SIGNALS;
byte wanted[MOST]; /* by position: the stamp that belongs there */
bool done;

#define OWN_CURSOR (cursor_pending -> cursor_value : cursor)

#ifdef NO_RELEASE
#define MAY_SHOW_CURSOR true
#else
#define MAY_SHOW_CURSOR (!data_pending[0] && !data_pending[1])
#endif

proctype store_buffer() {
end:
  do
  :: atomic { data_pending[0] -> data[0] = data_value[0]; data_pending[0] = false }
  :: atomic { data_pending[1] -> data[1] = data_value[1]; data_pending[1] = false }
  :: atomic {
       cursor_pending && MAY_SHOW_CURSOR ->
       assert(cursor_value > cursor);
       cursor = cursor_value;
       cursor_pending = false
     }
  od
}

/* One hit. `between` is what may happen between two instructions; the skips are there because no jump may lead
 * into a d_step. */
#define HIT(from, to, stamp, between)                                                    \
  do                                                                                     \
  :: EARLY_STAMP(stamp)                                                                  \
     between; skip;                                                                      \
     from = reserved;                                                                    \
     between; skip;                                                                      \
     if                                                                                  \
     :: from + 1 > limit -> break                     /* lost, and counted */            \
     :: else                                                                             \
     fi;                                                                                 \
     between; skip;                                                                      \
     LATE_STAMP(stamp)                                                                   \
     between; skip;                                                                      \
     RESERVE(from, stamp);                                                               \
     if                                                                                  \
     :: reserve_failed -> reserve_failed = false      /* begin again */                  \
     :: else ->                                                                          \
        between; skip;                                                                   \
        d_step { data_pending[from % SLOTS] = true; data_value[from % SLOTS] = stamp };  \
        between; skip;                                                                   \
        if                                                                               \
        :: IS_OUTERMOST(from) ->                                                         \
           between; skip;                                                                \
           to = from + 1;                                                                \
           SHOW(to);                                                                     \
           do                                                                            \
           :: between; skip;                                                             \
              from = reserved;                                                           \
              if                                                                         \
              :: from == to -> break                                                     \
              :: else                                                                    \
              fi;                                                                        \
              between; skip;                                                             \
              PUBLISH_MORE(to, from)                                                     \
           od                                                                            \
        :: else                                                                          \
        fi;                                                                              \
        break                                                                            \
     fi                                                                                  \
  od

#define SHOW(position) d_step { cursor_value = position; cursor_pending = true }

#ifdef STAMP_FIRST
#define EARLY_STAMP(stamp) d_step { stamp = clock; clock++ };
#define LATE_STAMP(stamp)
#else
#define EARLY_STAMP(stamp)
#define LATE_STAMP(stamp) d_step { stamp = clock; clock++ };
#endif

bool reserve_failed;
#ifdef PLAIN_RESERVE
#define RESERVE(from, stamp) \
  d_step { reserved = from + 1; wanted[from] = stamp }
#else
#define RESERVE(from, stamp)                                       \
  d_step {                                                         \
    if                                                             \
    :: reserved == from -> reserved = from + 1; wanted[from] = stamp \
    :: else -> reserve_failed = true                               \
    fi                                                             \
  }
#endif

#ifdef NESTED_PUBLISH
#define IS_OUTERMOST(from) true
#else
#define IS_OUTERMOST(from) OWN_CURSOR == from
#endif

#ifdef PLAIN_PUBLISH
#define PUBLISH_MORE(to, new) d_step { SHOW(new); to = new }
#else
#define PUBLISH_MORE(to, new)                     \
  atomic {                                        \
    if                                            \
    :: OWN_CURSOR == to -> SHOW(new); to = new    \
    :: else -> break                              \
    fi                                            \
  }
#endif

byte handler_from, handler_to, handler_stamp;

inline signal() {
  if
  :: signals > 0 -> signals--; HIT(handler_from, handler_to, handler_stamp, skip)
  :: true
  fi
}

proctype thread() {
  byte from, to, stamp, hits;
  do
  :: hits < HITS -> hits++; HIT(from, to, stamp, signal())
  :: else -> break
  od;
  done = true
}

proctype collector() {
  byte tail, seen, last, early[SLOTS];
  do
  :: done && !cursor_pending && tail == cursor ->
     assert(cursor == reserved);
     break
  :: else ->
     /* A load that nothing holds back may have happened before the cursor was read. */
     d_step { early[0] = data[0]; early[1] = data[1] };
     seen = cursor;
     do
     :: tail < seen ->
#ifdef LIMIT_BEFORE_READ
        limit = tail + 1 + SLOTS;
#endif
        d_step {
#ifdef NO_ACQUIRE
          assert(early[tail % SLOTS] == wanted[tail]);
#else
          assert(data[tail % SLOTS] == wanted[tail]);
#endif
          assert(wanted[tail] > last);
          last = wanted[tail];
          tail++
        };
#ifndef LIMIT_BEFORE_READ
        limit = tail + SLOTS
#endif
     :: else -> break
     od
  od
}

init {
  atomic { run store_buffer(); run thread(); run collector() }
}
