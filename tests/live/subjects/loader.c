/* Loads a library at SIGUSR1, while it runs, and from then on calls into it every half millisecond
 * with a count from 0 on. Its own point is hit all the time. argv[1]: the library. */
#include <dlfcn.h>
#include <signal.h>
#include <sojourn/point.h>
#include <stdio.h>
#include <unistd.h>

static volatile sig_atomic_t asked;

static void ask(int number) {
  (void)number;
  asked = 1;
}

int main(int argc, char** argv) {
  struct sigaction action = {.sa_handler = ask};
  void (*step)(unsigned) = NULL;
  unsigned steps = 0;
  if (argc < 2) return 2;
  sigaction(SIGUSR1, &action, NULL);
  puts("ready");
  fflush(stdout);
  for (unsigned number = 0;; ++number) {
    SJ_POINT("D loader.in--library.in", "::number", number);
    if (step) step(steps++);
    usleep(500);
    if (!asked || step) continue;
    void* const library = dlopen(argv[1], RTLD_NOW);
    if (!library) return 3;
    *(void**)&step = dlsym(library, "library_step");
    if (!step) return 4;
  }
}
