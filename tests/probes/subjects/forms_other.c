/* The second unit: the same inline functions again, and one that is never called. */
#include "forms.h"

int forms_other_unit(int value) {
  return 2 * forms_shared(value);
}

void forms_dead(int value) {
  SJ_POINT("D forms.dead--forms.end", "value::", value);
}
