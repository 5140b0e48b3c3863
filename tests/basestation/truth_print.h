// The truth as text, one line a record, for people and for grep.
#pragma once

#include <string>

#include "analysis/base/result.h"

namespace sojourn::basestation {

Result<void> print_truth(const std::string& path);

}  // namespace sojourn::basestation
