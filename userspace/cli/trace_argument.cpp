#include "userspace/cli/trace_argument.h"

#include <algorithm>

#include "analysis/report/completeness_words.h"
#include "analysis/report/text_format.h"
#include "analysis/trace/completeness.h"
#include "userspace/cli/tell.h"
#include "userspace/cli/terminal.h"
#include "userspace/files/trace_file.h"

namespace sojourn::cli {

Argument add_trace(Arguments& arguments, std::string& path) {
  return arguments.add_option("trace", path, "The trace file, e.g. run.sjt")
      .type_name("FILE")
      .required();
}

Result<trace::Reader> open_trace(const std::string& path) {
  auto reader = files::open_trace(path);
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

std::string first_line(const trace::Reader& reader) {
  const std::string words = report::not_whole(trace::completeness_of(reader), reader.path());
  return words.empty() ? words : report::wrapped(words, 2, line_width()) + "\n";
}

std::string tell_if_not_whole(const trace::Reader& reader, std::string_view told) {
  std::string words = report::not_whole(trace::completeness_of(reader), reader.path());
  if (!words.empty() && words != told) tell("{}\n", words);
  return words;
}

}  // namespace sojourn::cli
