#include "userspace/cli/exports/scripted_export.h"

#include <cstdint>
#include <span>

#include "userspace/cli/progress.h"
#include "userspace/cli/trace_argument.h"

namespace sojourn::cli {

Result<void> export_scripted(const ExportRequest& request, trace::Reader reader,
                             const std::string& notice, const exports::Write& write) {
  const trace::Put put = [&write](std::span<const std::uint8_t> bytes) {
    return write({reinterpret_cast<const char*>(bytes.data()), bytes.size()});
  };
  ProgressLine line;
  SJ_CHECK(request.script.write(reader, put, line.progress()));
  line.clear();
  tell_if_not_whole(reader, notice);
  return {};
}

}  // namespace sojourn::cli
