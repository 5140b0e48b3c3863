// The part of a page that replaces traces that are too large for it: their summaries, and the
// events around their slowest packets. No state.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "analysis/base/result.h"
#include "analysis/page/page_summary.h"
#include "analysis/trace/byte_source.h"

namespace sojourn::page {

// The beginning of the second trace's element, within the first trace's element.
constexpr std::string_view kSecondTrace =
    "</script>\n<script type=\"application/octet-stream\" id=\"against\" data-name=\"";

struct SummarySource {
  std::string name;     // of the file
  bool is_kept = true;  // a user has the file, and can drop it onto the page
  std::unique_ptr<trace::ByteSource> bytes;
};

// Writes the part for one or two traces, beginning with the first one's name. The part has at most
// `most` bytes before base64, or no events.
Result<void> write_summary(std::vector<SummarySource> sources, std::uint64_t most,
                           const std::function<Result<void>(std::string_view)>& write,
                           const SummaryProgress& progress);

}  // namespace sojourn::page
