// Finds how far a thread has come in the code of a hit, by its next instruction, as its ring does
// not show that. The code is ring_write.h's; a test of the probes compares the offsets with the
// compilers' output. No state.
#pragma once

#include <cstdint>

#include "userspace/capture/records/record_reader.h"

namespace sojourn::capture {

enum class HitPart : std::uint8_t {
  kHasStamp,  // and no place in the ring yet
  kHasPlace,  // and its record has no id yet
};

struct HitCode {
  const RingSites::Site* site = nullptr;  // null: the instruction is elsewhere
  HitPart part = HitPart::kHasPlace;
};

// True if a thread can lose the processor between the stamp and the reservation, and then go on. On
// arm64 the store that reserves the place fails after that, and the hit begins anew.
#if defined(__x86_64__)
inline constexpr bool kStampComesFirst = true;
#else
inline constexpr bool kStampComesFirst = false;
#endif

HitCode find_hit(const RingSites& sites, std::uint64_t instruction);

}  // namespace sojourn::capture
