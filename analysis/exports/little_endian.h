// Numbers as the binary formats of exports have them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

namespace sojourn::exports {

// Appends the lowest `bytes` bytes of `value`, the lowest first.
inline void put_in(std::string& out, std::uint64_t value, std::size_t bytes) {
  for (std::size_t byte = 0; byte < bytes; ++byte)
    out += static_cast<char>(static_cast<unsigned char>(value >> (8 * byte)));
}

}  // namespace sojourn::exports
