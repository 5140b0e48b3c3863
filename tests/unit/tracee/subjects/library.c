/* A library with one point, which the program loads late. */
#include <sojourn/point.h>

void stage_in_library(int rnti, signed char level);

void stage_in_library(int rnti, signed char level) {
  SJ_POINT("D lib.in--lib.out", "level:rnti:", level, rnti);
}
