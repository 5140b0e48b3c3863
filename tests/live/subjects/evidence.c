/* A worker that is given a unit every 50 ms and needs some milliseconds for each: in the middle of
 * a rain of timer interrupts, or while it writes memory that nobody has touched before. Usage: NAME
 * interrupts | faults PAGES. Says "ready" on descriptor 3 and works until it is ended. */
#define _GNU_SOURCE
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <sojourn/point.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

static sem_t given;
static unsigned taken;
static long pages;

static void ignore(int signal) {
  (void)signal;
}

static long long now_ns(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return now.tv_sec * 1000000000LL + now.tv_nsec;
}

static void touch(void) {
  const size_t page = (size_t)sysconf(_SC_PAGESIZE);
  const size_t bytes = (size_t)pages * page;
  char* memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) abort();
  madvise(memory, bytes, MADV_NOHUGEPAGE);
  for (size_t at = 0; at < bytes; at += page) memory[at] = 1;
  munmap(memory, bytes);
}

/* A timer's interrupt comes to the CPU of the thread that took the signal before it. */
static void rain(void) {
  const struct itimerspec period = {{0, 200 * 1000}, {0, 200 * 1000}};
  struct sigaction action = {.sa_handler = ignore, .sa_flags = SA_RESTART};
  struct sigevent event = {.sigev_notify = SIGEV_THREAD_ID, .sigev_signo = SIGUSR1};
  timer_t timer;
  event._sigev_un._tid = gettid();
  sigaction(SIGUSR1, &action, NULL);
  if (timer_create(CLOCK_MONOTONIC, &event, &timer) != 0) abort();
  timer_settime(timer, 0, &period, NULL);
}

static void* work(void* unused) {
  (void)unused;
  pthread_setname_np(pthread_self(), "worker");
  if (pages == 0) rain();
  for (;;) {
    while (sem_wait(&given) != 0) {
    }
    if (pages > 0) {
      touch();
    } else {
      const long long until_ns = now_ns() + 5 * 1000000LL;
      while (now_ns() < until_ns) {
      }
    }
    SJ_POINT("D work--out", "len:rnti:sn", 100, 1, taken);
    ++taken;
  }
  return NULL;
}

int main(int argc, char** argv) {
  pthread_t worker;
  unsigned number = 0;
  struct timespec pause = {.tv_sec = 0, .tv_nsec = 50 * 1000 * 1000};
  if (argc > 2 && strcmp(argv[1], "faults") == 0) pages = atol(argv[2]);
  sem_init(&given, 0, 0);
  pthread_create(&worker, NULL, work, NULL);
  (void)!write(3, "ready\n", 6);
  for (;; ++number) {
    SJ_POINT("D in--work", "len:rnti:sn", 100, 1, number);
    sem_post(&given);
    nanosleep(&pause, NULL);
  }
}
