// Names as people write them: "rlc::Am::send(Packet&)" of "_ZN3rlc2Am4sendER6Packet". A forged name
// may take any time and memory to read: to be called where that harms nobody.
#pragma once

#include <string>
#include <string_view>

namespace sojourn::symbols {

// The name itself where it is no C++ name. Compilers' suffixes (".part.0") are kept.
std::string demangled(std::string_view name);

}  // namespace sojourn::symbols
