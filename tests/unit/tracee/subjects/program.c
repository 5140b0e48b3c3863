/* A process with points, for the target module's tests. Says "ready" once its library, if one is
 * named on the command line, is loaded, and lives until it is killed. */
#ifndef SUBJECT_STATIC
#include <dlfcn.h>
#endif
#include <sojourn/point.h>
#include <unistd.h>

static inline __attribute__((always_inline)) void leave_stage(int rnti, unsigned short length) {
  SJ_POINT("D pdcp.tx--rlc.tx.am", "len:rnti:psn", length, rnti, 7);
}

static void many(long seed) {
  SJ_POINT("U mac.in--rlc.in", "a.b.c.d.e:rnti:f.g.h.i.j", seed, seed + 1, seed + 2, seed + 3,
           seed + 4, (unsigned char)seed, seed + 6, seed + 7, seed + 8, seed + 9, seed + 10);
}

int main(int argc, char** argv) {
  leave_stage(argc, 1);
  leave_stage(argc + 1, 2);
  many(argc);
  SJ_POINT("I mac.tick--mac.slot", "::");
#ifndef SUBJECT_STATIC
  if (argc > 1 && dlopen(argv[1], RTLD_NOW) == 0) return 1;
#endif
  if (write(1, "ready\n", 6) != 6) return 1;
  for (;;) pause();
}
