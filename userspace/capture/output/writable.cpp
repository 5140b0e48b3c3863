#include "userspace/capture/output/writable.h"

#include "analysis/trace/writer.h"

namespace sojourn::capture {

Result<void> try_to_write(const std::string& path, const FileOwner& owner) {
  const WriteAs as(owner);
  SJ_TRY(writer, trace::Writer::create(path));
  writer.abandon();
  return {};
}

}  // namespace sojourn::capture
