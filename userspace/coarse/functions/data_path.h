// Guesses by names which functions packets pass through: those of layers and queues, those that
// handle, send, put or take. People choose from the guesses. No state.
#pragma once

#include <string_view>

namespace sojourn::coarse {

// The higher, the more it looks like the data path; 0: not at all. `shown` is the demangled name.
unsigned data_path_score(std::string_view shown);

// Whether the library comes with the compiler or the system, and so has no data path of its own.
bool is_of_toolchain(std::string_view file);

// Whether the function may take items out of a queue.
bool takes_out(std::string_view shown);

}  // namespace sojourn::coarse
