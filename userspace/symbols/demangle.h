// Demangles names: "rlc::Am::send(Packet&)" of "_ZN3rlc2Am4sendER6Packet". A forged name may take
// any time and memory, so this is to be called in a bounded child.
#pragma once

#include <string>
#include <string_view>

namespace sojourn::symbols {

// A name that is no C++ name is returned unchanged. Compilers' suffixes (".part.0") are kept.
std::string demangled(std::string_view name);

}  // namespace sojourn::symbols
