#include "userspace/cli/trace_file.h"

#include <algorithm>

#include "userspace/cli/tell.h"

namespace sojourn::cli {

Argument add_trace(Arguments& arguments, std::string& path) {
  return arguments.add_option("trace", path, "The trace file, e.g. run.sjt")
      .type_name("FILE")
      .required();
}

Result<trace::Reader> open_trace(const std::string& path) {
  auto reader = trace::Reader::open(path);
  // A capture writes its points before anything else.
  if (reader && reader->schema().points.empty())
    return fail("{}: cut or damaged before its points: no event in it can be read", path);
  return reader;
}

std::uint64_t origin_ns(const trace::Reader& reader) {
  if (reader.capture().open_ns != 0) return reader.capture().open_ns;
  if (reader.blocks().empty()) return 0;
  return std::ranges::min(reader.blocks(), {}, &trace::BlockInfo::min_ts_ns).min_ts_ns;
}

void tell_if_not_whole(const trace::Reader& reader) {
  if (!reader.damage().empty())
    tell("{}: damaged, and what cannot be read is left out: see sojourn check {}\n", reader.path(),
         reader.path());
  else if (reader.capture().close_ns == 0)
    tell("{}: the capture did not end in order: what happened last may be missing\n",
         reader.path());
}

}  // namespace sojourn::cli
