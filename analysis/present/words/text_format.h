// Numbers as people read them, and lines as long as they like them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "analysis/base/printable.h"

namespace sojourn::present {

// A note for distributions with more samples than are kept one by one.
inline constexpr std::string_view kInexact =
    "quantiles of more than 1,000,000 samples are within 0.1 %\n";

std::string duration(double ns);         // "931 ns", "14.2 us", "1.92 ms", "10.0 s"
std::string count(std::uint64_t value);  // "3,412,806"
std::string percent(double share);       // 0.0037 -> "0.37 %"
std::string bar(double share, std::size_t width);

// Wraps a line; the lines after the first are indented further. A number stays with its noun.
std::string wrapped(std::string_view line, std::size_t indent, std::size_t width);

}  // namespace sojourn::present
