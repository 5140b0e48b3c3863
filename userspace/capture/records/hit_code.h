// How far a thread has come that stands in the code of a hit, told by its next instruction: what
// its ring does not show. What that code is like is ring_write.h's, and a test of the probes reads
// it from what the compilers make of it. No state.
#pragma once

#include <cstdint>

#include "userspace/capture/records/record_reader.h"

namespace sojourn::capture {

enum class HitPart : std::uint8_t {
  kHasStamp,  // and no place in the ring, but will have it
  kHasPlace,  // and its record does not say yet which it is
};

struct HitCode {
  const RingSites::Site* site = nullptr;  // null: the instruction is elsewhere
  HitPart part = HitPart::kHasPlace;
};

// Whether a thread can lose the processor between the stamp and the place, and then go on. On arm64
// the store that takes the place fails after that, and the hit begins anew.
#if defined(__x86_64__)
inline constexpr bool kStampComesFirst = true;
#else
inline constexpr bool kStampComesFirst = false;
#endif

HitCode find_hit(const RingSites& sites, std::uint64_t instruction);

}  // namespace sojourn::capture
