// Packs a text so that a browser can unpack it. No state.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "analysis/base/result.h"

namespace sojourn::page {

Result<std::vector<std::uint8_t>> gzipped(std::string_view text);

}  // namespace sojourn::page
