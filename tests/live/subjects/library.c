/* A library with a point of its own. */
#include <sojourn/point.h>

void library_step(unsigned number);

void library_step(unsigned number) {
  SJ_POINT("D library.in--library.out", "::number", number);
}
