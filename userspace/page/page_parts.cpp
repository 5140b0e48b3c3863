#include "userspace/page/page_parts.h"

extern "C" {
extern const char sojourn_page_head[];
extern const char sojourn_page_head_end[];
extern const char sojourn_page_tail[];
extern const char sojourn_page_tail_end[];
}

namespace sojourn::page {

PageParts page_parts() {
  return {.head = {sojourn_page_head, sojourn_page_head_end},
          .tail = {sojourn_page_tail, sojourn_page_tail_end}};
}

}  // namespace sojourn::page
