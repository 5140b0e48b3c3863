// Tries whether a trace can be written: a flight recorder has no file before its first dump, and an
// error in its name should show at the start. No state.
#pragma once

#include <string>

#include "analysis/base/result.h"
#include "userspace/capture/rights/rights.h"

namespace sojourn::capture {

// Leaves no file behind. Returns the name that an earlier file was moved to, see trace::Writer.
Result<std::string> try_to_write(const std::string& path, const FileOwner& owner);

std::string put_aside_text(const std::string& path);

}  // namespace sojourn::capture
