// The report page: as one HTML file that needs nothing else, with or without traces inside; and in
// the form that `sojourn serve` serves.
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

// Writes the page with these traces inside: one, or two to compare. Without traces the user drops
// some onto the page. `write` gets the page in pieces. If the traces have more than `most` bytes,
// the page has only summaries and the events around the slowest packets, and the user can drop the
// traces onto it later.
Result<void> write_page(std::span<const std::string> traces, std::uint64_t most, const Write& write,
                        const SummaryProgress& progress);

// Writes the page with one trace that `make` produces. `name`: the trace's name on the page. There
// is no file that a user could drop onto the page later.
using Make = std::function<Result<void>(const trace::Put&)>;
Result<void> write_page_of(const std::string& name, const Make& make, std::uint64_t most,
                           const Write& write, const SummaryProgress& progress);

// The page as `sojourn serve` serves it: it asks its server for traces. The policy, which is also
// in the page itself, forbids it to ask any other server.
struct ServedPage {
  std::string html;
  std::string policy;
};
Result<ServedPage> served_page();

// Escapes a text for an attribute in quotes. A byte that is not text becomes '?'.
std::string attribute_text(std::string_view text);

}  // namespace sojourn::page
