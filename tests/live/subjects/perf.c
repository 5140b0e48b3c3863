/* A program with known page faults, switches and hot functions, by hop. Prints "ready", waits for
 * SIGUSR1, performs the action of its first argument as often as the second says, and ends. Its own
 * counts go to its output, a name and a number a line. */
#define _GNU_SOURCE
#include <pthread.h>
#include <signal.h>
#include <sojourn/point.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define PAGE 4096
#define PAGES_IN_HOP 3

static void die(const char* what) {
  perror(what);
  exit(1);
}

static void say(const char* name, unsigned long number) {
  printf("%s %lu\n", name, number);
}

static unsigned long cpu_us(void) {
  struct timespec now;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return (unsigned long)now.tv_sec * 1000000 + (unsigned long)now.tv_nsec / 1000;
}

/* ---- page faults: three in the hop `touch` and one between two units ---- */

static char* fresh_pages(long count) {
  const size_t bytes = (size_t)count * PAGE;
  char* pages = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (pages == MAP_FAILED) die("mmap");
  madvise(pages, bytes, MADV_NOHUGEPAGE);
  return pages;
}

static void touch_for_a_packet(char* pages, unsigned packet) {
  SJ_POINT("D fault.in--fault.touch", "::packet", packet);
  for (int page = 0; page < PAGES_IN_HOP; page++) *(volatile char*)(pages + page * PAGE) = 1;
  SJ_POINT("D fault.touch--fault.out", "::packet", packet);
  *(volatile char*)(pages + PAGES_IN_HOP * PAGE) = 1;
}

static void do_faults(long count, char* pages) {
  for (long packet = 0; packet < count; packet++)
    touch_for_a_packet(pages + packet * (PAGES_IN_HOP + 1) * PAGE, (unsigned)packet);
}

/* ---- switches: one sleep in the hop `sleep` ---- */

static unsigned long switches(void) {
  struct rusage usage;
  if (getrusage(RUSAGE_THREAD, &usage) != 0) die("getrusage");
  return (unsigned long)(usage.ru_nvcsw + usage.ru_nivcsw);
}

static void do_switches(long count) {
  const struct timespec millisecond = {.tv_nsec = 1000000};
  unsigned long in_hop = 0;
  for (long packet = 0; packet < count; packet++) {
    SJ_POINT("D nap.in--nap.sleep", "::packet", (unsigned)packet);
    const unsigned long before = switches();
    nanosleep(&millisecond, NULL);
    in_hop += switches() - before;
    SJ_POINT("D nap.sleep--nap.out", "::packet", (unsigned)packet);
  }
  say("in_hop", in_hop);
}

/* ---- CPU time: three milliseconds in the hop `burn` and one between two units ---- */

static volatile unsigned long sink;

__attribute__((noinline)) static void spin_for(unsigned long us) {
  const unsigned long end = cpu_us() + us;
  do {
    for (int i = 0; i < 20000; i++) sink = sink + 1;
  } while (cpu_us() < end);
}

static inline __attribute__((always_inline)) void inlined_work(unsigned long us) {
  const unsigned long end = cpu_us() + us;
  do {
    for (int i = 0; i < 20000; i++) sink = sink + 3;
  } while (cpu_us() < end);
}

__attribute__((noinline)) void sj_hot_function(unsigned long us) {
  inlined_work(us);
  sink = sink + 1;
}

__attribute__((noinline)) void sj_hot_caller(unsigned long us) {
  sj_hot_function(us);
  sink = sink + 1; /* not a tail call */
}

__attribute__((noinline)) void sj_cold_function(unsigned long us) {
  spin_for(us);
  sink = sink + 1;
}

static void do_burn(long count) {
  const unsigned long before = cpu_us();
  for (long packet = 0; packet < count; packet++) {
    SJ_POINT("D burn.in--burn.burn", "::packet", (unsigned)packet);
    sj_hot_caller(3000);
    SJ_POINT("D burn.burn--burn.out", "::packet", (unsigned)packet);
    sj_cold_function(1000);
  }
  say("cpu_us", cpu_us() - before);
}

/* ---- threads that start later, also by one that did ---- */

static pthread_mutex_t output = PTHREAD_MUTEX_INITIALIZER;

static void* late_thread(void* depth) {
  pthread_t next;
  const long left = (long)(intptr_t)depth;
  char name[16];
  snprintf(name, sizeof(name), "late %ld", left);
  pthread_setname_np(pthread_self(), name);
  if (left > 1 && pthread_create(&next, NULL, late_thread, (void*)(intptr_t)(left - 1)) != 0)
    die("pthread_create");
  sj_cold_function(100000);
  pthread_mutex_lock(&output);
  printf("late_%ld %lu\n", left, (unsigned long)syscall(SYS_gettid));
  pthread_mutex_unlock(&output);
  if (left > 1) pthread_join(next, NULL);
  return NULL;
}

static void do_late(long count) {
  pthread_t first;
  if (pthread_create(&first, NULL, late_thread, (void*)(intptr_t)count) != 0) die("pthread_create");
  pthread_join(first, NULL);
}

int main(int argc, char** argv) {
  sigset_t go;
  int signal_number;
  if (argc != 3) return 2;
  const char* work = argv[1];
  const long count = atol(argv[2]);
  char* pages = fresh_pages((count + 1) * (PAGES_IN_HOP + 1));
  setvbuf(stdout, NULL, _IOFBF, 1 << 16);
  sigemptyset(&go);
  sigaddset(&go, SIGUSR1);
  sigprocmask(SIG_BLOCK, &go, NULL);
  /* Code and stack are there before anybody counts. */
  touch_for_a_packet(pages + count * (PAGES_IN_HOP + 1) * PAGE, 0);
  dprintf(3, "ready\n");
  sigwait(&go, &signal_number);
  say("tid", (unsigned long)syscall(SYS_gettid));
  if (strcmp(work, "faults") == 0) do_faults(count, pages);
  if (strcmp(work, "switches") == 0) do_switches(count);
  if (strcmp(work, "burn") == 0) do_burn(count);
  if (strcmp(work, "late") == 0) do_late(count);
  return fflush(stdout);
}
