#include "userspace/page/page_parts.h"

#ifdef SOJOURN_HAS_PAGE
extern "C" {
extern const char sojourn_page_head[];
extern const char sojourn_page_head_end[];
extern const char sojourn_page_tail[];
extern const char sojourn_page_tail_end[];
}
#endif

namespace sojourn::page {

PageParts page_parts() {
#ifdef SOJOURN_HAS_PAGE
  return {.head = {sojourn_page_head, sojourn_page_head_end},
          .tail = {sojourn_page_tail, sojourn_page_tail_end}};
#else
  return {};
#endif
}

}  // namespace sojourn::page
