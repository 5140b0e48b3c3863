// Lists of CPUs as files below /sys have them. No state.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

namespace sojourn::tracee {

// Parses "0-3,5". Empty if the text is no list, or names more CPUs than any machine has.
std::vector<std::uint32_t> parse_cpu_list(std::string_view text);

}  // namespace sojourn::tracee
