/* A library with a point, to be loaded late and unloaded. */
#include <sojourn/point.h>
#include <stdint.h>

void late_library_hit(uint64_t number);
void late_library_hit(uint64_t number) {
  SJ_POINT("D late.in--late.out", "::number", number);
}
