/* A program with known system calls and waits. Prints "ready", waits for SIGUSR1, performs the
 * action of its first argument as often as the second says, in a thread called "worker", and ends.
 * Its own counts go to its output, a name and a number a line. */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <linux/futex.h>
#include <linux/if.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define PAGE 4096

static void die(const char* what) {
  perror(what);
  exit(1);
}

static void say(const char* name, unsigned long number) {
  printf("%s %lu\n", name, number);
}

static void pin(void) {
  cpu_set_t one;
  CPU_ZERO(&one);
  CPU_SET(0, &one);
  if (sched_setaffinity(0, sizeof(one), &one) != 0) die("sched_setaffinity");
}

static void start_as_worker(void) {
  pthread_setname_np(pthread_self(), "worker");
  say("worker", (unsigned long)syscall(SYS_gettid));
}

static void say_switches(void) {
  struct rusage usage;
  if (getrusage(RUSAGE_THREAD, &usage) != 0) die("getrusage");
  say("voluntary", (unsigned long)usage.ru_nvcsw);
  say("involuntary", (unsigned long)usage.ru_nivcsw);
}

static void* do_sleep(void* count) {
  const struct timespec millisecond = {.tv_nsec = 1000000};
  start_as_worker();
  for (long i = 0; i < (long)(intptr_t)count; i++) nanosleep(&millisecond, NULL);
  say_switches();
  return NULL;
}

static void* do_syscalls(void* count) {
  start_as_worker();
  for (long i = 0; i < (long)(intptr_t)count; i++) syscall(SYS_getppid);
  return NULL;
}

static void* do_faults(void* count) {
  const size_t bytes = (size_t)(intptr_t)count * PAGE;
  char* pages = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (pages == MAP_FAILED) die("mmap");
  madvise(pages, bytes, MADV_NOHUGEPAGE);
  start_as_worker();
  for (size_t at = 0; at < bytes; at += PAGE) *(volatile char*)(pages + at) = 1;
  say("pages", (unsigned long)pages);
  return NULL;
}

/* Two threads on one CPU that wait for each other in turns. */
static _Atomic uint32_t turn;

static void hand_over(uint32_t own, long count) {
  for (long i = 0; i < count; i++) {
    while (atomic_load(&turn) != own)
      syscall(SYS_futex, &turn, FUTEX_WAIT_PRIVATE, !own, NULL, NULL, 0);
    atomic_store(&turn, !own);
    syscall(SYS_futex, &turn, FUTEX_WAKE_PRIVATE, 1, NULL, NULL, 0);
  }
}

static void* partner(void* count) {
  pthread_setname_np(pthread_self(), "partner");
  say("partner", (unsigned long)syscall(SYS_gettid));
  hand_over(1, (long)(intptr_t)count);
  return NULL;
}

static void* do_pair(void* count) {
  pthread_t other;
  pin();
  start_as_worker();
  if (pthread_create(&other, NULL, partner, count) != 0) die("pthread_create");
  hand_over(0, (long)(intptr_t)count);
  pthread_join(other, NULL);
  return NULL;
}

static uint64_t thread_ns(void) {
  struct timespec now;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

/* A busy neighbour on the same CPU: `count` milliseconds of CPU time for each. */
static void* do_share(void* count) {
  const uint64_t work_ns = (uint64_t)(intptr_t)count * 1000000;
  pin();
  const pid_t neighbour = fork();
  if (neighbour < 0) die("fork");
  if (neighbour == 0) {
    prctl(PR_SET_NAME, "neighbour");
    while (thread_ns() < work_ns) continue;
    _exit(0);
  }
  start_as_worker();
  say("neighbour", (unsigned long)neighbour);
  const uint64_t begin_ns = thread_ns();
  while (thread_ns() - begin_ns < work_ns) continue;
  waitpid(neighbour, NULL, 0);
  say_switches();
  return NULL;
}

/* The kernel's own count of a socket's drops. */
static unsigned long drops_of(int fd) {
  uint32_t info[9] = {0}; /* SK_MEMINFO_DROPS is 8 */
  socklen_t bytes = sizeof(info);
  if (getsockopt(fd, SOL_SOCKET, SO_MEMINFO, info, &bytes) != 0) die("SO_MEMINFO");
  return info[8];
}

static int receiver = -1;
static struct sockaddr_in receiver_address;

static void open_receiver(void) {
  struct ifreq loopback = {.ifr_flags = IFF_UP};
  const int bytes = 4096;
  socklen_t length = sizeof(receiver_address);
  if (unshare(CLONE_NEWNET) != 0) die("unshare");
  receiver = socket(AF_INET, SOCK_DGRAM, 0);
  strcpy(loopback.ifr_name, "lo");
  if (ioctl(receiver, SIOCSIFFLAGS, &loopback) != 0) die("SIOCSIFFLAGS");
  setsockopt(receiver, SOL_SOCKET, SO_RCVBUF, &bytes, sizeof(bytes));
  receiver_address.sin_family = AF_INET;
  receiver_address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  if (bind(receiver, (struct sockaddr*)&receiver_address, length) != 0) die("bind");
  if (getsockname(receiver, (struct sockaddr*)&receiver_address, &length) != 0) die("getsockname");
}

static void* do_overrun(void* count) {
  const struct timespec while_sampled = {.tv_nsec = 500000000};
  const char datagram[100] = {0};
  const int sender = socket(AF_INET, SOCK_DGRAM, 0);
  start_as_worker();
  for (long i = 0; i < (long)(intptr_t)count; i++)
    if (sendto(sender, datagram, sizeof(datagram), 0, (struct sockaddr*)&receiver_address,
               sizeof(receiver_address)) != sizeof(datagram))
      die("sendto");
  say("drops", drops_of(receiver));
  say("port", ntohs(receiver_address.sin_port));
  nanosleep(&while_sampled, NULL);
  return NULL;
}

int main(int argc, char** argv) {
  const struct {
    const char* name;
    void* (*run)(void*);
  } works[] = {{"sleep", do_sleep}, {"syscalls", do_syscalls}, {"faults", do_faults},
               {"pair", do_pair},   {"share", do_share},       {"overrun", do_overrun}};
  sigset_t go;
  int signal_number;
  pthread_t worker;
  if (argc != 3) return 2;
  setvbuf(stdout, NULL, _IOFBF, 1 << 16);
  sigemptyset(&go);
  sigaddset(&go, SIGUSR1);
  sigprocmask(SIG_BLOCK, &go, NULL);
  if (strcmp(argv[1], "overrun") == 0) open_receiver();
  dprintf(3, "ready\n");
  sigwait(&go, &signal_number);
  for (size_t i = 0; i < sizeof(works) / sizeof(works[0]); i++)
    if (strcmp(argv[1], works[i].name) == 0 &&
        pthread_create(&worker, NULL, works[i].run, (void*)(intptr_t)atol(argv[2])) == 0)
      pthread_join(worker, NULL);
  return fflush(stdout);
}
