#include "userspace/cli/exports/redacted_export.h"

#include <cstdint>
#include <span>
#include <string_view>

#include "userspace/cli/progress.h"
#include "userspace/cli/trace_argument.h"
#include "userspace/redaction/trace_redaction.h"

namespace sojourn::cli {

Result<void> export_redacted(const ExportRequest& /*request*/, trace::Reader reader,
                             const std::string& notice, const exports::Write& write) {
  const redaction::Put put = [&write](std::span<const std::uint8_t> bytes) {
    return write({reinterpret_cast<const char*>(bytes.data()), bytes.size()});
  };
  ProgressLine line;
  SJ_CHECK(redaction::write_redacted(reader, redaction::ValueCipher::random_key(), put,
                                     line.progress()));
  line.clear();
  tell_if_not_whole(reader, notice);
  return {};
}

}  // namespace sojourn::cli
