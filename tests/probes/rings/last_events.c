/* Hits a point COUNT times and ends in the given way, so that tests can look for its last events.
 * Usage: sj-subject-last-events COUNT abort|kill|exit|lock; lock prints the size that mlockall()
 * made resident, in KiB. */
#include <signal.h>
#include <sojourn/point.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

static int print_locked(void) {
  struct rusage usage;
  if (mlockall(MCL_CURRENT | MCL_FUTURE) != 0 || getrusage(RUSAGE_SELF, &usage) != 0) return 1;
  printf("%ld\n", usage.ru_maxrss);
  return 0;
}

int main(int argc, char** argv) {
  if (argc < 3) return 2;
  const uint64_t count = strtoull(argv[1], NULL, 10);
  for (uint64_t number = 0; number < count; ++number)
    SJ_POINT("D last.events--last.out", "::number", number);
  if (strcmp(argv[2], "abort") == 0) abort();
  if (strcmp(argv[2], "kill") == 0) kill(getpid(), SIGKILL);
  if (strcmp(argv[2], "lock") == 0) return print_locked();
  return 0;
}
