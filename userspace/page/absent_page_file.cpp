// In the place of page_file.cpp where the report page is not built.
#include "userspace/page/page_file.h"

namespace sojourn::page {

namespace {

std::unexpected<Error> is_absent() {
  return fail("this sojourn was built without the report page (SOJOURN_PAGE=OFF)");
}

}  // namespace

Result<void> write_page(std::span<const std::string> /*traces*/, std::uint64_t /*most*/,
                        const Write& /*write*/, const SummaryProgress& /*progress*/) {
  return is_absent();
}

Result<void> write_page_of(const std::string& /*name*/, const Make& /*make*/,
                           std::uint64_t /*most*/, const Write& /*write*/,
                           const SummaryProgress& /*progress*/) {
  return is_absent();
}

Result<ServedPage> served_page() {
  return is_absent();
}

}  // namespace sojourn::page
