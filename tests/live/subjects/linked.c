/* A program with a point, linked with a library that has one: hits each the given number of times.
 */
#include <sojourn/point.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

void library_step(unsigned number);

int main(int argc, char** argv) {
  const unsigned rounds = argc > 1 ? (unsigned)strtoul(argv[1], NULL, 10) : 1000;
  puts("ready");
  fflush(stdout);
  for (unsigned i = 0; i < rounds; ++i) {
    SJ_POINT("D linked.in--library.in", "::number", i);
    library_step(i);
    usleep(500);
  }
  return 0;
}
