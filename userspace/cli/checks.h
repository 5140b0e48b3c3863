// What the words of an option may be. A check says what is wrong in words that follow the option's
// name; what the words stand for is in the help as the option's type. CLI11's own checks name C++
// types and the largest double there is.
#pragma once

#include <cstdint>
#include <limits>
#include <string>

#include "userspace/cli/arguments.h"

namespace sojourn::cli {

// Digits only, so that no sign is lost on the way into an unsigned number.
Check whole_number(std::uint64_t least,
                   std::uint64_t most = std::numeric_limits<std::uint64_t>::max());

// Finite, and above `least`, or just that where it is allowed.
Check number_above(double least, double most = std::numeric_limits<double>::infinity());

std::string check_process_id(const std::string& text);

// "10s", "500ms": with a unit, and above 0.
std::string check_duration(const std::string& text);

// "4096", "64K"; of a ring a power of two of whole pages.
std::string check_bytes(const std::string& text);
std::string check_ring_bytes(const std::string& text);

}  // namespace sojourn::cli
