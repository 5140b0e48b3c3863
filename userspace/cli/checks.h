// Checks of an option's words. An error follows the option's name in the message; the help shows
// the option's type. CLI11's own checks are not used, as they name C++ types and the largest
// double.
#pragma once

#include <cstdint>
#include <limits>
#include <string>

#include "userspace/cli/arguments.h"

namespace sojourn::cli {

// Digits only, so that no sign is lost in a conversion to an unsigned number.
Check whole_number(std::uint64_t least,
                   std::uint64_t most = std::numeric_limits<std::uint64_t>::max());

// Finite, and above `least`, or equal to it where that is allowed.
Check number_above(double least, double most = std::numeric_limits<double>::infinity());

// Refuses an empty name of an output. A shell makes one of a variable that is not set, so it does
// not mean standard output, nor a default.
std::string check_output_name(const std::string& name);

// Refuses "-" as well: for what goes to a file, and never to standard output.
std::string check_output_file(const std::string& name);

std::string check_process_id(const std::string& text);

// "10s", "500ms": with a unit, and above 0.
std::string check_duration(const std::string& text);

// "4096", "64K"; of a ring a power of two of whole pages.
std::string check_bytes(const std::string& text);
std::string check_ring_bytes(const std::string& text);

}  // namespace sojourn::cli
