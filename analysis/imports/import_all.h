// The loop over files that all formats share.
#pragma once

#include <span>
#include <string>

#include "analysis/base/result.h"
#include "analysis/imports/destination.h"

namespace sojourn::imports {

// Each file becomes a stream. `read(file)` counts what the format counts and writes the events.
// Fails with `why_empty(file)` if a file has no event.
template <typename Summary, typename Read, typename WhyEmpty>
Result<Summary> import_all(std::span<const std::string> paths, Destination& into, const Read& read,
                           const WhyEmpty& why_empty) {
  Summary summary;
  for (const std::string& path : paths) {
    auto& file = summary.files.emplace_back();
    file.path = path;
    SJ_CHECK(into.begin(file));
    SJ_CHECK(read(file));
    SJ_CHECK(into.end());
    if (file.events == 0) return fail("{}: {}", path, why_empty(file));
  }
  return summary;
}

}  // namespace sojourn::imports
