// Which functions look, by their names, as if packets went through them: a layer's, a queue's,
// those that handle, send, put or take. A guess for people to choose from. No state.
#pragma once

#include <string_view>

namespace sojourn::coarse {

// 0: it does not look like that; the higher, the more it does. `shown` as people write the name.
unsigned data_path_score(std::string_view shown);

// A library that comes with the compiler or the system: no base station's own path is in it.
bool is_of_toolchain(std::string_view file);

// Whether it may be what takes things out of a queue.
bool takes_out(std::string_view shown);

}  // namespace sojourn::coarse
