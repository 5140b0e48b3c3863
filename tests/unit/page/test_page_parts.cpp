// A page of markup alone in the place of the one that is built into the tracer, with the seams that
// analysis/page/build_page.sh leaves.
#include "userspace/page/page_parts.h"

namespace sojourn::page {

PageParts page_parts() {
  return {.head =
              "<!doctype html>\n"
              "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; "
              "worker-src blob:\">\n"
              "<script type=\"application/octet-stream\" id=\"trace\" data-name=\"",
          .tail = "</script>\n</html>\n"};
}

}  // namespace sojourn::page
