/* Hits a point COUNT times and ends as told, so that tests can look for its last events.
 * Usage: sj-subject-last-events COUNT abort|kill|exit */
#include <signal.h>
#include <sojourn/point.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

int main(int argc, char** argv) {
  if (argc < 3) return 2;
  const uint64_t count = strtoull(argv[1], NULL, 10);
  for (uint64_t number = 0; number < count; ++number)
    SJ_POINT("D last.events--last.out", "::number", number);
  if (strcmp(argv[2], "abort") == 0) abort();
  if (strcmp(argv[2], "kill") == 0) kill(getpid(), SIGKILL);
  return 0;
}
