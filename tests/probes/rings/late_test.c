/* Loads and unloads a library with points many times: neither arenas nor descriptors may pile up.
 * Usage: sj-late-test LIBRARY ARENAS, how many there are while the library is loaded. */
#include <dirent.h>
#include <dlfcn.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { kRounds = 20 };

static int count_arenas(void) {
  FILE* const maps = fopen("/proc/self/maps", "r");
  char line[512];
  int arenas = 0;
  while (fgets(line, sizeof(line), maps) != NULL) {
    unsigned long offset = 1;
    if (strstr(line, "sojourn-rings") != NULL && sscanf(line, "%*s %*s %lx", &offset) == 1 &&
        offset == 0)
      ++arenas;
  }
  fclose(maps);
  return arenas;
}

static int count_descriptors(void) {
  DIR* const directory = opendir("/proc/self/fd");
  int count = 0;
  while (readdir(directory) != NULL) ++count;
  closedir(directory);
  return count;
}

int main(int argc, char** argv) {
  if (argc != 3) return 2;
  const int descriptors = count_descriptors();
  for (int round = 0; round < kRounds; ++round) {
    void* const library = dlopen(argv[1], RTLD_NOW);
    if (library == NULL) return puts(dlerror()), 1;
    void (*hit)(uint64_t) = NULL;
    *(void**)&hit = dlsym(library, "late_library_hit");
    if (hit == NULL) return 1;
    for (uint64_t number = 0; number < 1000; ++number) hit(number);
    if (count_arenas() != atoi(argv[2]))
      return printf("round %d: %d arenas\n", round, count_arenas()), 1;
    dlclose(library);
  }
  if (count_descriptors() != descriptors) return puts("descriptors are left behind"), 1;
  return puts("nothing piled up"), 0;
}
