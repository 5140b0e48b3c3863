/*
 * Makes this module's arena when the module is loaded, before any of its own code runs: the shared
 * memory, its flags mapped over the module's flag section, and some rings with memory, so that
 * threads which begin to be traced later need no system call for one.
 *
 * Whatever goes wrong here leaves the module without a ring engine and otherwise as it was.
 * Environment, read once: SJ_RINGS=off|armed|flight, SJ_RING_BYTES, SJ_RING_COUNT (prepared),
 * SJ_RING_MEMORY (ceiling), SJ_RING_DIR, SJ_QUEUE_COUNT (places for queues).
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <linux/memfd.h>
#include <pthread.h>
#include <sojourn/detail/ring_write.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "rings.h"

struct sj_runtime sj_runtime;

/* The arena's descriptor, kept open for collectors of the same user. The program may close it and
 * reuse its number, so the file's identity is kept as well. */
static struct {
  int fd;
  dev_t device;
  ino_t inode;
} arena_file = {.fd = -1};

static const uint64_t kRingBytes = 256 * 1024;
/* The largest ring that a collector may ask for. Only addresses are reserved for it, but mlockall()
 * counts those too. */
static const uint64_t kLargestRing = 2048 * 1024;
static const uint64_t kPreparedRings = 8;
static const uint64_t kMemoryCeiling = 64 * 1024 * 1024;
static const uint64_t kQueues = 1024;
static const uint64_t kMostQueues = 65536;

/* The module's flags, gathered by the linker; see detail/ring_site.h. Whole pages. */
extern uint16_t __start_sj_flags[] __attribute__((weak, visibility("hidden")));
extern uint16_t __stop_sj_flags[] __attribute__((weak, visibility("hidden")));

struct settings {
  uint64_t ring_bytes;
  uint64_t prepared;
  uint64_t memory_ceiling;
  uint64_t queues;
  const char* directory; /* null: a memfd */
  int armed;
  uint32_t mode;
};

/* Reads a number with an optional K, M or G. One that cannot be read counts as not set. */
static uint64_t read_number(const char* name, uint64_t otherwise) {
  const char* const text = secure_getenv(name);
  if (text == NULL || text[0] < '0' || text[0] > '9') return otherwise;
  char* end = NULL;
  const unsigned long long number = strtoull(text, &end, 10);
  unsigned shift = 0;
  if (*end == 'K' || *end == 'k') shift = 10;
  if (*end == 'M' || *end == 'm') shift = 20;
  if (*end == 'G' || *end == 'g') shift = 30;
  if (shift != 0) ++end;
  if (*end != '\0' || number > UINT64_MAX >> (shift + 1)) return otherwise;
  return (uint64_t)number << shift;
}

static uint64_t at_most(uint64_t number, uint64_t most) {
  return number < most ? number : most;
}

static uint64_t power_of_two(uint64_t least) {
  uint64_t power = SJ_RING_PAGE;
  while (power < least && power < 1ULL << 32) power *= 2;
  return power;
}

/* False: rings are off. */
static int read_settings(struct settings* settings) {
  const char* const wanted = secure_getenv("SJ_RINGS");
  if (wanted != NULL && strcmp(wanted, "off") == 0) return 0;
  const int flight = wanted != NULL && strcmp(wanted, "flight") == 0;
  *settings = (struct settings){
      .ring_bytes = power_of_two(read_number("SJ_RING_BYTES", kRingBytes)),
      .prepared = read_number("SJ_RING_COUNT", kPreparedRings),
      .memory_ceiling = read_number("SJ_RING_MEMORY", kMemoryCeiling),
      .queues = at_most(read_number("SJ_QUEUE_COUNT", kQueues), kMostQueues),
      .directory = secure_getenv("SJ_RING_DIR"),
      .armed = flight || (wanted != NULL && strcmp(wanted, "armed") == 0),
      .mode = flight ? SJ_RING_FLIGHT : SJ_RING_STOP,
  };
  return 1;
}

static uint64_t whole_pages(uint64_t bytes) {
  return (bytes + SJ_RING_PAGE - 1) / SJ_RING_PAGE * SJ_RING_PAGE;
}

static struct sj_arena plan(const struct settings* settings) {
  const uint64_t flags_bytes = (uint64_t)((char*)__stop_sj_flags - (char*)__start_sj_flags);
  const uint64_t largest =
      settings->ring_bytes > kLargestRing ? settings->ring_bytes : kLargestRing;
  struct sj_arena arena = {
      .magic = SJ_ARENA_MAGIC,
      .version = SJ_ARENA_VERSION,
      .page_bytes = SJ_RING_PAGE,
      .code_address = (uint64_t)(uintptr_t)&plan,
      .flags_address = (uint64_t)(uintptr_t)__start_sj_flags,
      .flags_offset = whole_pages(sizeof(struct sj_arena)),
      .flags_bytes = flags_bytes,
      .queue_slots = settings->queues,
      .queue_table_stride = whole_pages(settings->queues * sizeof(struct sj_queue)),
      .ring_slots = SJ_MAX_RING_SLOTS,
      .ring_stride = SJ_RING_DATA + largest + SJ_RING_PAGE,
      .ring_bytes_default = settings->ring_bytes,
      .memory_ceiling_default = settings->memory_ceiling,
      .pid = getpid(),
  };
  arena.queue_table[SJ_QUEUE_TABLE_FIRST].pid = arena.pid;
  arena.slots_offset = arena.flags_offset + flags_bytes;
  arena.queues_offset =
      arena.slots_offset + whole_pages(arena.ring_slots * sizeof(struct sj_ring_slot));
  arena.rings_offset = arena.queues_offset + SJ_QUEUE_TABLES * arena.queue_table_stride;
  arena.total_bytes = arena.rings_offset + arena.ring_slots * arena.ring_stride;
  return arena;
}

/* Creates a file with a name, so that a crash leaves its last events in it. O_EXCL does not follow
 * a link that somebody put there. */
static int create_named(const char* directory, const struct sj_arena* arena) {
  char path[4096];
  const int length = snprintf(path, sizeof(path), "%s/" SJ_ARENA_NAME "-%d-%llx", directory,
                              (int)arena->pid, (unsigned long long)arena->code_address);
  if (length < 0 || (size_t)length >= sizeof(path)) return -1;
  return open(path, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
}

/* Creates the arena's file in its full size. It takes memory only where it is touched. */
static int create_file(const struct settings* settings, const struct sj_arena* arena) {
  /* A file beyond the limit would bring the process SIGXFSZ. */
  struct rlimit limit;
  if (getrlimit(RLIMIT_FSIZE, &limit) != 0 || limit.rlim_cur < arena->total_bytes) return -1;
  const int named = settings->directory != NULL && settings->directory[0] != '\0';
  int fd = named ? create_named(settings->directory, arena) : -1;
  const int is_file = fd >= 0;
  /* Also if the directory is not ours, or gone: rings without a name are better than none. */
  if (!is_file) fd = memfd_create(SJ_ARENA_NAME, MFD_CLOEXEC | MFD_ALLOW_SEALING);
  if (fd < 0) return -1;
  if (ftruncate(fd, (off_t)arena->total_bytes) != 0) {
    close(fd);
    return -1;
  }
  /* Seals the file's size: a shorter file would mean SIGBUS for the process. */
  if (!is_file) fcntl(fd, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL);
  return fd;
}

static struct sj_arena* map_arena(int fd, const struct sj_arena* arena) {
  char* const base = mmap(NULL, arena->total_bytes, PROT_NONE, MAP_SHARED | MAP_NORESERVE, fd, 0);
  if (base == MAP_FAILED) return NULL;
  madvise(base + arena->rings_offset, arena->total_bytes - arena->rings_offset, MADV_DONTDUMP);
  /* Forked children make the tables of their queues accessible themselves. */
  const uint64_t used =
      arena->queues_offset + (SJ_QUEUE_TABLE_FIRST + 1) * arena->queue_table_stride;
  if (mprotect(base, used, PROT_READ | PROT_WRITE) != 0) {
    munmap(base, arena->total_bytes);
    return NULL;
  }
  return (struct sj_arena*)(void*)base;
}

/* Maps the arena's flags over the module's: from here on a hit reads what a collector sets. */
static int share_flags(int fd, const struct sj_arena* arena) {
  if (arena->flags_bytes == 0) return 1;
  return mmap((void*)(uintptr_t)arena->flags_address, arena->flags_bytes, PROT_READ | PROT_WRITE,
              MAP_SHARED | MAP_FIXED | MAP_POPULATE, fd, (off_t)arena->flags_offset) != MAP_FAILED;
}

/* Records from the start, for a collector that comes later or that reads what a crash left. */
static void arm(struct sj_arena* arena, uint32_t mode) {
  arena->control.mode = mode;
  arena->control.close_stamp = UINT64_MAX;
  __atomic_store_n(&arena->control.session, 1, __ATOMIC_RELEASE);
  for (uint16_t* flag = __start_sj_flags; flag < __stop_sj_flags; ++flag)
    __atomic_store_n(flag, SJ_FLAG_RING, __ATOMIC_RELAXED);
}

__attribute__((constructor(101))) static void begin_rings(void) {
  const int saved_errno = errno;
  struct settings settings;
  sj_remove_unloaded_arenas((uint64_t)(uintptr_t)&plan);
  if (read_settings(&settings)) {
    const struct sj_arena planned = plan(&settings);
    const int fd = create_file(&settings, &planned);
    struct sj_arena* const arena = fd < 0 ? NULL : map_arena(fd, &planned);
    if (arena != NULL) {
      memcpy(arena, &planned, sizeof(planned));
      sj_find_module(&arena->module);
      sj_read_clocks(&arena->first_clocks);
      sj_runtime.slots = (struct sj_ring_slot*)(void*)((char*)arena + planned.slots_offset);
      sj_runtime.rings = (char*)arena + planned.rings_offset;
      sj_runtime.queue_table = &arena->queue_table[SJ_QUEUE_TABLE_FIRST];
      sj_runtime.arena = arena;
      for (uint64_t slot = 0; slot < settings.prepared && slot < planned.ring_slots; ++slot)
        if (!sj_ring_prepare(slot, settings.ring_bytes)) break;
      /* For kernels that cannot wipe a child's cursors (MADV_WIPEONFORK). */
      pthread_atfork(NULL, NULL, sj_ring_forget);
      pthread_atfork(NULL, NULL, sj_queues_fork);
      if (share_flags(fd, arena) && settings.armed) arm(arena, settings.mode);
    }
    struct stat status;
    if (arena != NULL && fstat(fd, &status) == 0) {
      arena_file.fd = fd;
      arena_file.device = status.st_dev;
      arena_file.inode = status.st_ino;
    } else if (fd >= 0) {
      close(fd);
    }
  }
  errno = saved_errno;
}

/* Runs at the process's end as well, while other threads still hit points: so it unmaps nothing. */
__attribute__((destructor(101))) static void end_rings(void) {
  if (sj_runtime.arena == NULL) return;
  __atomic_store_n(&sj_runtime.arena->gone, 1, __ATOMIC_RELEASE);
  struct stat status;
  if (fstat(arena_file.fd, &status) == 0 && status.st_dev == arena_file.device &&
      status.st_ino == arena_file.inode)
    close(arena_file.fd);
}
