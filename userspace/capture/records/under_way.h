// Finds hits that have begun and are not whole: a thread leaves them behind the last record in its
// ring when it is stopped, or ends, in the middle of one. Handlers may have hit more points inside
// of it. A hit without a place in the ring is found by the thread's next instruction. All of the
// ring is hostile. No state.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "userspace/capture/records/hit_code.h"
#include "userspace/capture/records/record_reader.h"

namespace sojourn::capture {

// The end of a ring's records.
struct RingEnd {
  const std::byte* data = nullptr;  // followed by SJ_RECORD_MAX_BYTES of overhang
  std::uint64_t capacity = 0;       // a power of two
  std::int64_t from = 0;            // everything before it was read
  // The end of the owner's reserved places. Nothing if its private page cannot be read: then only
  // hits that have written their id can be found.
  std::optional<std::int64_t> reserved;
  // Stamps rise, so a lower stamp is a leftover in the memory, where no hit was written yet.
  std::uint64_t not_before = 0;
  std::uint64_t not_after = UINT64_MAX;
  // The owner's position in its code, if it is known. It shows which hit is the last one.
  HitCode stands = {};
};

struct HitUnderWay {
  const RingSites::Site* site = nullptr;  // null: its id is not written yet
  std::uint64_t stamp = 0;                // 0: the same
};

std::vector<HitUnderWay> hits_under_way(const RingEnd& end, const RingSites& sites);

}  // namespace sojourn::capture
