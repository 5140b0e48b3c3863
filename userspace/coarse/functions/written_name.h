// Compares C++ function names as people write them with demangled ones: parameter types may lack
// namespaces and template arguments, "const T&" equals "T const&", uint32_t equals unsigned int,
// and std::string equals its full type. No state.
#pragma once

#include <string_view>

namespace sojourn::coarse {

enum class Likeness { kSame, kEnding, kNone };

// Compares a map's name with a function's. `shown`: "ns::Class::send(ns::byte_buffer, unsigned
// int)". If `written` has no parameters, any fit. kEnding: `written` lacks namespaces or classes in
// front.
Likeness likeness(std::string_view shown, std::string_view written);

}  // namespace sojourn::coarse
