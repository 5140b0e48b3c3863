/* Hits a point of its own, then loads a library, calls into it a hundred times and unloads it
 * again, so often as is asked. argv[1]: the library. argv[2]: how often. */
#include <dlfcn.h>
#include <sojourn/point.h>
#include <stdlib.h>

int main(int argc, char** argv) {
  const unsigned rounds = argc > 2 ? (unsigned)strtoul(argv[2], NULL, 10) : 1;
  if (argc < 2) return 2;
  for (unsigned round = 0; round < rounds; ++round) {
    SJ_POINT("D unloader.in--library.in", "::number", round);
    void* const library = dlopen(argv[1], RTLD_NOW);
    if (!library) return 3;
    void (*step)(unsigned) = NULL;
    *(void**)&step = dlsym(library, "library_step");
    if (!step) return 4;
    for (unsigned number = 0; number < 100; ++number) step(number);
    dlclose(library);
  }
  return 0;
}
