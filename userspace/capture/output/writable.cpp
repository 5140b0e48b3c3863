#include "userspace/capture/output/writable.h"

#include "analysis/trace/writer.h"
#include "userspace/files/trace_file.h"

namespace sojourn::capture {

Result<std::string> try_to_write(const std::string& path, const FileOwner& owner) {
  const WriteAs as(owner);
  SJ_TRY(writer, files::create_trace(path));
  std::string put_aside = writer.put_aside();
  writer.abandon();
  return put_aside;
}

std::string put_aside_text(const std::string& path) {
  return "the unfinished trace of a killed capture is " + path + " now";
}

}  // namespace sojourn::capture
