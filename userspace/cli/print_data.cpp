#include "userspace/cli/print_data.h"

#include <cstdio>

#include "userspace/base/fail_errno.h"

namespace sojourn::cli {

Result<void> print_data(std::string_view text) {
  if (std::fwrite(text.data(), 1, text.size(), stdout) == text.size()) return {};
  return fail_errno("write standard output");
}

}  // namespace sojourn::cli
