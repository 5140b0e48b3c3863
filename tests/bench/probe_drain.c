/*
 * The smallest possible collector of rings, outside of the target: attaches, walks every record
 * until SIGTERM, and prints what it saw and the time that it took. It knows probe_cost.c's records
 * by their first value. Usage: probe-drain PID RING_BYTES
 */
#include <dirent.h>
#include <fcntl.h>
#include <signal.h>
#include <sojourn/ring_abi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

enum { kMaxRings = 64, kEnough = 65536 };

static volatile sig_atomic_t ended;

static void end(int signal_number) {
  (void)signal_number;
  ended = 1;
}

struct reader {
  int64_t tail;
  uint32_t next; /* number of the record expected */
  uint64_t records, out_of_order;
};
static struct reader readers[kMaxRings];

static char* map_arena(const char* pid) {
  char path[512], target[256];
  snprintf(path, sizeof(path), "/proc/%s/fd", pid);
  DIR* const directory = opendir(path);
  for (const struct dirent* entry; directory && (entry = readdir(directory));) {
    snprintf(path, sizeof(path), "/proc/%s/fd/%.16s", pid, entry->d_name);
    const ssize_t length = readlink(path, target, sizeof(target) - 1);
    if (length <= 0) continue;
    target[length] = '\0';
    if (!strstr(target, SJ_ARENA_NAME)) continue;
    struct stat status;
    const int fd = open(path, O_RDWR | O_CLOEXEC);
    if (fd < 0 || fstat(fd, &status) != 0) return NULL;
    char* const base =
        mmap(NULL, (size_t)status.st_size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    return base == MAP_FAILED ? NULL : base;
  }
  return NULL;
}

static struct sj_ring* ring_at(struct sj_arena* arena, uint64_t slot) {
  return (struct sj_ring*)(void*)((char*)arena + arena->rings_offset + slot * arena->ring_stride);
}

static uint32_t first_value(const char* record) {
  uint32_t value;
  memcpy(&value, record + SJ_RECORD_HEADER_BYTES, sizeof(value));
  return value;
}

/* Returns the bytes that it took. */
static int64_t drain(struct sj_ring* ring, struct reader* reader) {
  const int64_t cursor = __atomic_load_n(&ring->cursor, __ATOMIC_ACQUIRE);
  const int64_t from = reader->tail;
  if (from == cursor) return 0;
  const char* const data = (const char*)ring + SJ_RING_DATA;
  const uint64_t mask = ring->mask;
  while (reader->tail < cursor) {
    const uint32_t value = first_value(data + ((uint64_t)reader->tail & mask));
    if ((value & 0x0fffffff) >> 4 != (reader->next & 0x00ffffff)) ++reader->out_of_order;
    reader->next = (value >> 4) + 1;
    ++reader->records;
    reader->tail += (SJ_RECORD_HEADER_BYTES + 4 * (int64_t)(value & 15) + 7) / 8 * 8;
  }
  __atomic_store_n(&ring->limit, cursor + (int64_t)(mask + 1), __ATOMIC_RELEASE);
  return cursor - from;
}

static uint64_t cpu_ns(void) {
  struct timespec now;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

int main(int argc, char** argv) {
  char* const base = argc == 3 ? map_arena(argv[1]) : NULL;
  if (!base) {
    fprintf(stderr, "usage: %s PID RING_BYTES, of a process that has rings\n", argv[0]);
    return 2;
  }
  signal(SIGTERM, end);
  struct sj_arena* const arena = (struct sj_arena*)(void*)base;
  arena->control.ring_bytes = strtoull(argv[2], NULL, 10);
  arena->control.memory_ceiling = UINT64_MAX / 2;
  arena->control.mode = SJ_RING_STOP;
  arena->control.open_stamp = 0;
  arena->control.close_stamp = UINT64_MAX;
  __atomic_add_fetch(&arena->control.session, 1, __ATOMIC_SEQ_CST);
  uint16_t* const flags = (uint16_t*)(void*)(base + arena->flags_offset);
  for (uint64_t i = 0; i < arena->flags_bytes / 2; ++i)
    __atomic_store_n(&flags[i], SJ_FLAG_RING, __ATOMIC_SEQ_CST);

  uint64_t drain_ns = 0;
  for (int last = 0; !last;) {
    last = ended;
    const uint64_t begin_ns = cpu_ns();
    int64_t taken = 0;
    const uint64_t used = __atomic_load_n(&arena->slots_used, __ATOMIC_ACQUIRE);
    for (uint64_t slot = 0; slot < used && slot < kMaxRings; ++slot)
      taken += drain(ring_at(arena, slot), &readers[slot]);
    drain_ns += cpu_ns() - begin_ns;
    if (taken < kEnough) usleep(100);
  }

  struct reader sum = {0};
  uint64_t lost = 0;
  for (uint64_t slot = 0; slot < arena->slots_used && slot < kMaxRings; ++slot) {
    sum.records += readers[slot].records;
    sum.out_of_order += readers[slot].out_of_order;
    lost += ring_at(arena, slot)->lost;
  }
  for (const struct sj_ring_loss* loss = arena->refused; loss < arena->refused + SJ_RING_LOSSES;
       ++loss)
    lost += loss->count;
  printf("%.2f ns, drained %llu, lost %llu, missing %llu\n",
         (double)drain_ns / (double)(sum.records ? sum.records : 1),
         (unsigned long long)sum.records, (unsigned long long)lost,
         (unsigned long long)sum.out_of_order);
  return 0;
}
