#include "userspace/page/summary_part.h"

#include <algorithm>
#include <cstddef>
#include <span>
#include <string>
#include <utility>

#include <fmt/format.h>

#include "analysis/page/page_engine.h"
#include "userspace/page/base64_stream.h"
#include "userspace/page/gzip.h"
#include "userspace/page/page_file.h"

namespace sojourn::page {

namespace {

Result<void> write_base64(std::span<const std::uint8_t> bytes, const Write& write) {
  Base64Stream stream(write);
  SJ_CHECK(stream.put(bytes));
  return stream.finish();
}

}  // namespace

Result<void> write_summary(std::vector<SummarySource> sources, std::uint64_t most,
                           const Write& write, const SummaryProgress& progress) {
  std::vector<std::string> attributes;
  attributes.reserve(sources.size());
  for (const SummarySource& source : sources)
    attributes.push_back(fmt::format("{}\" data-bytes=\"{}\"{}>", attribute_text(source.name),
                                     source.bytes->size(),
                                     source.is_kept ? "" : " data-gone=\"\""));
  SJ_TRY(engine, PageEngine::open(std::move(sources.front().bytes)));
  if (sources.size() > 1) SJ_CHECK(engine.compare_with(std::move(sources[1].bytes)));
  SJ_TRY(summary, summary_of(engine, sources.size(), most / 2 / sources.size(), progress));
  SJ_TRY(packed, gzipped(summary.text));
  for (std::size_t trace = 0; trace < attributes.size(); ++trace) {
    if (trace > 0) SJ_CHECK(write(kSecondTrace));
    SJ_CHECK(write(attributes[trace]));
    SJ_CHECK(write_base64(summary.windows[trace], write));
  }
  SJ_CHECK(write("</script>\n<script type=\"application/octet-stream\" id=\"summary\">"));
  return write_base64(packed, write);
}

}  // namespace sojourn::page
