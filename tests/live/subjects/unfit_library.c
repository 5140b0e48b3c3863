/* A library whose rings have an unknown version. */
#define _GNU_SOURCE
#include <sojourn/ring_abi.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

void library_step(unsigned number);

void library_step(unsigned number) {
  (void)number;
}

__attribute__((constructor)) static void make_rings(void) {
  enum { kBytes = 1 << 16 };
  const int fd = memfd_create(SJ_ARENA_NAME, MFD_CLOEXEC);
  if (fd < 0 || ftruncate(fd, kBytes) != 0) abort();
  void* const rings = mmap(NULL, kBytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
  if (rings == MAP_FAILED) abort();
  memset(rings, 0xee, kBytes);
}
