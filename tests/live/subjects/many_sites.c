/* Hits 200 points in turn, more than a ring's table of losses tells apart, so often as is asked,
 * with so many microseconds between rounds. Prints how many hits there were. */
#include <sojourn/point.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#define ONE(number) SJ_POINT("D many.s" #number "--many.out", "::round", round);
#define TEN(tens) \
  ONE(tens##0)    \
  ONE(tens##1)    \
  ONE(tens##2)    \
  ONE(tens##3) ONE(tens##4) ONE(tens##5) ONE(tens##6) ONE(tens##7) ONE(tens##8) ONE(tens##9)

/* A row of macros is taken for one statement. */
/* clang-format off */
__attribute__((noinline)) static void hit_all(unsigned round) {
  TEN(10) TEN(11) TEN(12) TEN(13) TEN(14) TEN(15) TEN(16) TEN(17) TEN(18) TEN(19)
  TEN(20) TEN(21) TEN(22) TEN(23) TEN(24) TEN(25) TEN(26) TEN(27) TEN(28) TEN(29)
}
/* clang-format on */

int main(int argc, char** argv) {
  const unsigned rounds = argc > 1 ? (unsigned)strtoul(argv[1], NULL, 10) : 1;
  const unsigned pause_us = argc > 2 ? (unsigned)strtoul(argv[2], NULL, 10) : 0;
  puts("ready");
  fflush(stdout);
  for (unsigned round = 0; round < rounds; ++round) {
    hit_all(round);
    if (pause_us != 0) usleep(pause_us);
  }
  printf("hits %u\n", rounds * 200);
  return 0;
}
