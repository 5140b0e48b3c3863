/*
 * Finds which file this module is: its path and its build id, for a reader that finds the arena
 * when the process is gone. Runs once, when the module is loaded.
 */
#define _GNU_SOURCE
#include <elf.h>
#include <link.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "rings.h"

static int holds(const struct dl_phdr_info* info, uint64_t address) {
  for (unsigned i = 0; i < info->dlpi_phnum; ++i) {
    const ElfW(Phdr)* const segment = &info->dlpi_phdr[i];
    const uint64_t begin = info->dlpi_addr + segment->p_vaddr;
    if (segment->p_type == PT_LOAD && address >= begin && address - begin < segment->p_memsz)
      return 1;
  }
  return 0;
}

static void find_build_id(const char* notes, uint64_t bytes, struct sj_module* module) {
  static const char kOwner[] = "GNU";
  for (uint64_t at = 0; bytes - at >= sizeof(ElfW(Nhdr));) {
    ElfW(Nhdr) note;
    memcpy(&note, notes + at, sizeof(note));
    const uint64_t owner = at + sizeof(note);
    const uint64_t id = owner + (note.n_namesz + UINT64_C(3)) / 4 * 4;
    const uint64_t end = id + (note.n_descsz + UINT64_C(3)) / 4 * 4;
    if (end > bytes) return;
    if (note.n_type == NT_GNU_BUILD_ID && note.n_namesz == sizeof(kOwner) &&
        memcmp(notes + owner, kOwner, sizeof(kOwner)) == 0 &&
        note.n_descsz <= sizeof(module->build_id)) {
      memcpy(module->build_id, notes + id, note.n_descsz);
      module->build_id_bytes = note.n_descsz;
      return;
    }
    at = end;
  }
}

/* Loaders give the executable an empty name, and a library the name by which it was loaded. */
static void find_path(const char* name, struct sj_module* module) {
  char* const path = realpath(name[0] != '\0' ? name : "/proc/self/exe", NULL);
  if (path != NULL && strlen(path) < sizeof(module->path)) strcpy(module->path, path);
  free(path);
}

static int look_at_module(struct dl_phdr_info* info, size_t size, void* argument) {
  (void)size;
  if (!holds(info, (uint64_t)(uintptr_t)&look_at_module)) return 0;
  struct sj_module* const module = argument;
  find_path(info->dlpi_name, module);
  for (unsigned i = 0; i < info->dlpi_phnum && module->build_id_bytes == 0; ++i) {
    const ElfW(Phdr)* const segment = &info->dlpi_phdr[i];
    if (segment->p_type == PT_NOTE)
      find_build_id((const char*)(uintptr_t)(info->dlpi_addr + segment->p_vaddr), segment->p_filesz,
                    module);
  }
  return 1;
}

void sj_find_module(struct sj_module* module) {
  dl_iterate_phdr(look_at_module, module);
}
