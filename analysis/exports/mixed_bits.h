// Maps numbers to numbers that look random (the finalizer of SplitMix64). Different inputs have
// different outputs. Pure.
#pragma once

#include <cstdint>

namespace sojourn::exports {

constexpr std::uint64_t mixed_bits(std::uint64_t value) {
  value += 0x9E3779B97F4A7C15U;
  value = (value ^ value >> 30U) * 0xBF58476D1CE4E5B9U;
  value = (value ^ value >> 27U) * 0x94D049BB133111EBU;
  return value ^ value >> 31U;
}

}  // namespace sojourn::exports
