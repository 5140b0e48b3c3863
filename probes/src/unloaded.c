/*
 * Removes the arenas of modules that were unloaded. A module cannot remove its own arena: its
 * destructor also runs at the process's end, while other threads may still hit points. So it only
 * marks itself as gone, and the next module that is loaded removes every arena that is not usable
 * any more: one whose code is not mapped, or is now this module's own.
 */
#define _GNU_SOURCE
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>

#include "rings.h"

enum { kMostAtOnce = 16 };

struct leftover {
  struct sj_arena* arena;
  int in_use;
};

struct mapping {
  uint64_t from, to, offset;
  char rights[5];
  char name[256];
};

static int read_mapping(FILE* maps, struct mapping* mapping) {
  char line[512];
  if (fgets(line, sizeof(line), maps) == NULL) return 0;
  *mapping = (struct mapping){0};
  sscanf(line, "%" SCNx64 "-%" SCNx64 " %4s %" SCNx64 " %*s %*s %255[^\n]", &mapping->from,
         &mapping->to, mapping->rights, &mapping->offset, mapping->name);
  return 1;
}

static int is_unloaded_arena(const struct mapping* mapping) {
  if (mapping->offset != 0 || mapping->rights[0] != 'r' || mapping->rights[3] != 's') return 0;
  if (strstr(mapping->name, SJ_ARENA_NAME) == NULL) return 0;
  const struct sj_arena* const arena = (const struct sj_arena*)(uintptr_t)mapping->from;
  return arena->magic == SJ_ARENA_MAGIC && arena->version == SJ_ARENA_VERSION &&
         __atomic_load_n(&arena->gone, __ATOMIC_ACQUIRE);
}

void sj_remove_unloaded_arenas(uint64_t own_code) {
  FILE* const maps = fopen("/proc/self/maps", "re");
  if (maps == NULL) return;
  struct leftover leftovers[kMostAtOnce];
  size_t count = 0;
  struct mapping mapping;
  while (count < kMostAtOnce && read_mapping(maps, &mapping))
    if (is_unloaded_arena(&mapping))
      leftovers[count++].arena = (struct sj_arena*)(uintptr_t)mapping.from;

  for (size_t i = 0; i < count; ++i) {
    leftovers[i].in_use = 0;
    rewind(maps);
    while (read_mapping(maps, &mapping)) {
      const uint64_t code = leftovers[i].arena->code_address;
      if (mapping.rights[2] == 'x' && code >= mapping.from && code < mapping.to && code != own_code)
        leftovers[i].in_use = 1;
    }
  }
  fclose(maps);
  for (size_t i = 0; i < count; ++i)
    if (!leftovers[i].in_use) munmap(leftovers[i].arena, leftovers[i].arena->total_bytes);
}
