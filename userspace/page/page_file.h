// A report page as a file: one HTML file that needs nothing else, with traces inside or without;
// and as a server serves it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>

#include "analysis/base/result.h"
#include "analysis/page/page_summary.h"
#include "analysis/trace/put_sink.h"

namespace sojourn::page {

using Write = std::function<Result<void>(std::string_view)>;

// By default a page carries traces up to this size.
constexpr std::uint64_t kDefaultTraceMegabytes = 64;

// The page with these traces inside: one, or two to compare; without any it takes those that are
// dropped onto it. `write` gets it piece by piece. Of traces of more than `most` bytes it carries
// summaries and the events around the slowest packets, and takes the traces later.
Result<void> write_page(std::span<const std::string> traces, std::uint64_t most, const Write& write,
                        const SummaryProgress& progress);

// The same with one trace that is made on the way: `make` passes its bytes on. `name`: what the
// page calls it. Nobody has its file to drop onto the page.
using Make = std::function<Result<void>(const trace::Put&)>;
Result<void> write_page_of(const std::string& name, const Make& make, std::uint64_t most,
                           const Write& write, const SummaryProgress& progress);

// The page as `sojourn serve` serves it, which asks its server for traces. The policy, also in the
// page itself, lets it ask nobody else.
struct ServedPage {
  std::string html;
  std::string policy;
};
Result<ServedPage> served_page();

// As an attribute of markup holds it between quotes. A byte that is no text becomes '?'.
std::string attribute_text(std::string_view text);

}  // namespace sojourn::page
