// The part of a page that stands for traces that are too large for it: their summaries, and traces
// of the events around their slowest packets. A function without state.
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

// What begins the element of the second trace, within that of the first.
constexpr std::string_view kSecondTrace =
    "</script>\n<script type=\"application/octet-stream\" id=\"against\" data-name=\"";

struct SummarySource {
  std::string name;     // of the file
  bool is_kept = true;  // somebody has the file, and can drop it onto the page
  std::unique_ptr<trace::ByteSource> bytes;
};

// Of one trace or of two, from the name of the first on. The part has at most so many bytes, before
// it is base64, or no events.
Result<void> write_summary(std::vector<SummarySource> sources, std::uint64_t most,
                           const std::function<Result<void>(std::string_view)>& write,
                           const SummaryProgress& progress);

}  // namespace sojourn::page
