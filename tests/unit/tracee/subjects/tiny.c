/* As small as a file with points can be: tests damage every byte of it. */
#include <sojourn/point.h>

void _start(void);

void _start(void) {
  int rnti = 1;
  SJ_POINT("D a.in--a.out", "len:rnti:", 100, rnti);
  SJ_POINT("U b.in--b.out", ":rnti:", rnti);
  for (;;) {
  }
}
