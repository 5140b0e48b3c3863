// Whether a trace can be written: a flight recorder has no file before its first dump, and what is
// wrong with its name is to show before that. No state.
#pragma once

#include <string>

#include "analysis/base/result.h"
#include "userspace/capture/rights/rights.h"

namespace sojourn::capture {

// Leaves nothing behind. What was put aside for it, see trace::Writer.
Result<std::string> try_to_write(const std::string& path, const FileOwner& owner);

std::string put_aside_text(const std::string& path);

}  // namespace sojourn::capture
