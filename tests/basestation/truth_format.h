// The numbers that the writer and the reader of the truth file share; truth.h describes the format.
#pragma once

#include <bit>
#include <cstdint>
#include <string_view>

namespace sojourn::truth {

static_assert(std::endian::native == std::endian::little, "values are copied as they are");

inline constexpr std::string_view kMagic = "SJTRUTH2";
inline constexpr std::uint16_t kEndThread = 0xffff;

enum class RecordKind : std::uint8_t {
  kHit = 1,
  kQueue = 2,
  kPacket = 3,
  kFate = 4,
  kPreemption = 5
};

}  // namespace sojourn::truth
