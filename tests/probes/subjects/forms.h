/* Shared by both units of the `forms` program: an inline function with a point, in C++ a template
 * too. */
#ifndef SOJOURN_TESTS_FORMS_H
#define SOJOURN_TESTS_FORMS_H

#include <sojourn/point.h>

#ifdef __cplusplus
template <typename T>
inline T forms_template(T value) {
  SJ_POINT("D forms.template--forms.end", "value::", value);
  return static_cast<T>(value + 1);
}

inline
#else
static inline
#endif
    int
    forms_shared(int value) {
  SJ_POINT("D forms.inline--forms.end", "value:twice:", value, 2 * value);
#ifdef __cplusplus
  const auto lambda = [value] {
    SJ_POINT("D forms.lambda--forms.end", "value::", value);
    return value;
  };
  (void)forms_template(static_cast<short>(value));
  return forms_template(lambda());
#else
  return value + 1;
#endif
}

int forms_other_unit(int value);
void forms_dead(int value);

#endif
