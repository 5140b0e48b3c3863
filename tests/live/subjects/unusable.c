/* Hits two points in turn, so often as is asked, and between them one as LatSeq's users have it,
 * whose fields have no names: nobody can make sense of that one. */
#include <sojourn/latseq.h>
#include <stdio.h>
#include <stdlib.h>

int main(int argc, char** argv) {
  const unsigned rounds = argc > 1 ? (unsigned)strtoul(argv[1], NULL, 10) : 1;
  for (unsigned round = 0; round < rounds; ++round) {
    LATSEQ_P("D usable.in--usable.tx", "::round%u", round);
    LATSEQ_P("S rdtsc--gettimeofday", "%ld.%06ld", (long)round, 0L);
    LATSEQ_P("D usable.tx--usable.out", "::round%u", round);
  }
  printf("hits %u\n", rounds * 2);
  return 0;
}
