/* Loads a library with points, calls it, unloads it, and all that once more.
 * Usage: loader LIBRARY. Prints "loader ok" and exits 0. */
#include <dlfcn.h>
#include <stdio.h>

int main(int argc, char** argv) {
  for (int round = 0; round < 2; ++round) {
    void* const library = argc == 2 ? dlopen(argv[1], RTLD_NOW) : NULL;
    if (library == NULL) {
      fprintf(stderr, "loader: %s\n", argc == 2 ? dlerror() : "needs a library");
      return 1;
    }
    int (*unit)(int) = NULL;
    *(void**)&unit = dlsym(library, "forms_other_unit");
    if (unit == NULL || unit(1) != 4 || dlclose(library) != 0) return 1;
  }
  puts("loader ok");
  return 0;
}
