// Lists of CPUs as files below /sys have them. No state.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

namespace sojourn::tracee {

// "0-3,5": none of a list that is none, or names more CPUs than there are anywhere.
std::vector<std::uint32_t> parse_cpu_list(std::string_view text);

}  // namespace sojourn::tracee
