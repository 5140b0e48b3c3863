// One instant of `sojourn live` as lines for people, where there is no terminal to draw on.
#pragma once

#include <cstddef>
#include <string>

#include "analysis/live/live_snapshot.h"

namespace sojourn::present {

// `since_start`: figures since the start, else of the window.
std::string live_text(const live::Snapshot& snapshot, bool since_start, std::size_t width);

}  // namespace sojourn::present
