// The kernel context in `sojourn report`: the text's table and the object's members.
#pragma once

#include <cstddef>
#include <string>

#include <nlohmann/json_fwd.hpp>

#include "analysis/context/thread_times.h"

namespace sojourn::present {

// `width`: of the terminal that it is for.
std::string context_text(const context::ThreadTimes& times, std::size_t width);
nlohmann::ordered_json context_json(const context::ThreadTimes& times);

}  // namespace sojourn::present
