// The report page that was built into the program, in two halves: traces go between them
// (analysis/page/build_page.sh).
#pragma once

#include <string_view>

namespace sojourn::page {

struct PageParts {
  std::string_view head;  // ends within the attribute that names the trace
  std::string_view tail;
};

PageParts page_parts();

}  // namespace sojourn::page
