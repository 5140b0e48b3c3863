// The answers of a report page that need no event of the trace: its headers and its metadata have
// them. Functions without state.
#pragma once

#include <nlohmann/json_fwd.hpp>

#include "analysis/trace/reader.h"

namespace sojourn::page {

// {"target", "events", "duration_s", "open_ns", "origin_ns", "identity", "redacted", "script"}
nlohmann::ordered_json about_of(const trace::Reader& reader);

// The trace's host block: "measured" is the text of `sojourn host --json`, empty if there is none.
nlohmann::ordered_json machine_of(const trace::Reader& reader);

// {"points", "threads", "cpus"}: what a filter can name.
nlohmann::ordered_json names_of(const trace::Reader& reader);

}  // namespace sojourn::page
