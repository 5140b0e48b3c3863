// Guesses by names which functions packets pass through: functions of layers and queues whose names
// say handle, send, put or take. People choose from the guesses. No state.
#pragma once

#include <string_view>

namespace sojourn::coarse {

// The higher, the more it looks like the data path; 0: not at all. `shown` is the demangled name.
unsigned data_path_score(std::string_view shown);

// Returns whether the library comes with the compiler or the system, and so has no data path of its
// own.
bool is_of_toolchain(std::string_view file);

// Returns whether the function may take items out of a queue.
bool takes_out(std::string_view shown);

// Returns whether the function is C++, where an argument may be an object: a buffer's handle, a
// smart pointer.
bool may_take_objects(std::string_view shown);

}  // namespace sojourn::coarse
