/* Forks one child after the other, each of which runs the site as its parent does: a child inherits
 * the tracer's breakpoint and the raised semaphore, but not the tracer. Last line: "fork: armed=N
 * children=N survived=N". */
#include <sojourn/point.h>
#include <sys/wait.h>

#include "subject.h"

enum { kHitsOfChild = 100, kSurvived = 42 };

__attribute__((noinline)) static void step(unsigned long number) {
  SJ_POINT("D fork.parent--fork.child", "hits::number", (armed_hits += 1), number);
}

static int child_survives(void) {
  const pid_t child = fork();
  if (child == 0) {
    for (unsigned long i = 0; i < kHitsOfChild; ++i) step(i);
    _exit(kSurvived);
  }
  int status = 0;
  return child > 0 && waitpid(child, &status, 0) == child && WIFEXITED(status) &&
         WEXITSTATUS(status) == kSurvived;
}

int main(int argc, char** argv) {
  unsigned long children = 0;
  unsigned long survived = 0;
  subject_start(argc, argv);
  while (subject_goes_on()) {
    step(children++);
    if (child_survives()) ++survived;
    usleep(1000);
  }
  printf("fork: armed=%lu children=%lu survived=%lu\n", armed_hits, children, survived);
  return survived == children ? 0 : 1;
}
