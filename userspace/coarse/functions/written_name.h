// Names of C++ functions as people write them, compared with how demanglers do: types of parameters
// may lack namespaces and template arguments, "const T&" is "T const&", uint32_t is unsigned int,
// std::string is what it stands for. No state.
#pragma once

#include <string_view>

namespace sojourn::coarse {

enum class Likeness { kSame, kEnding, kNone };

// How a map's name fits a function's. `shown`: "ns::Class::send(ns::byte_buffer, unsigned int)".
// Without parameters in `written` any fit. kEnding: `written` lacks namespaces or classes in front.
Likeness likeness(std::string_view shown, std::string_view written);

}  // namespace sojourn::coarse
