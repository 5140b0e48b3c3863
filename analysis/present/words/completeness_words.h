// The gaps of a trace file, in the same words everywhere: the first line of a text for people,
// stderr beside data, a field of JSON. No state.
#pragma once

#include <string>
#include <string_view>

#include <nlohmann/json_fwd.hpp>

#include "analysis/trace/completeness.h"

namespace sojourn::present {

// "1 place damaged (3,412 bytes), 1,000 events missing"; empty if the file is complete.
std::string lacking(const trace::Completeness& file);

// "run.sjt is not whole: 1 place damaged (...); next: sojourn check run.sjt", or an empty text.
std::string not_whole(const trace::Completeness& file, std::string_view path);

// "none lost", "1,301 lost", "losses unknown": the missing events count as lost.
std::string losses_words(const trace::Completeness& file);

// {"whole", "damaged_places", "damaged_bytes", "missing", "ended_in_order"}
nlohmann::ordered_json completeness_json(const trace::Completeness& file);

}  // namespace sojourn::present
