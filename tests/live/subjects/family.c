/* A program that forks: every half millisecond it hits its point with its own pid and a count of
 * its own from 0 on. At each SIGUSR1 it forks a child that does the same, or executes the program
 * that its arguments name. Children end with their parent. */
#include <signal.h>
#include <sojourn/point.h>
#include <stdio.h>
#include <sys/prctl.h>
#include <unistd.h>

static volatile sig_atomic_t asked;

static void ask(int number) {
  (void)number;
  asked = 1;
}

int main(int argc, char** argv) {
  struct sigaction action = {.sa_handler = ask};
  (void)argc;
  sigaction(SIGUSR1, &action, NULL);
  signal(SIGCHLD, SIG_IGN);
  puts("ready");
  fflush(stdout);
  for (unsigned number = 0;; ++number) {
    SJ_POINT("D family.in--family.out", "::process.number", (int)getpid(), number);
    usleep(500);
    if (!asked) continue;
    asked = 0;
    if (fork() == 0) {
      prctl(PR_SET_PDEATHSIG, SIGKILL);
      number = (unsigned)-1;
      if (argv[1]) execv(argv[1], argv + 1);
    }
  }
}
