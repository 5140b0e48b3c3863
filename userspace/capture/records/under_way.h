// Hits that have begun and are not whole: what a thread leaves behind the last record in its ring
// when it is stopped, or ends, in the middle of one. Handlers may have hit more inside of it. Where
// the thread stands in its code tells of one that has no place in the ring yet. All of the ring is
// hostile. No state.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "userspace/capture/records/hit_code.h"
#include "userspace/capture/records/record_reader.h"

namespace sojourn::capture {

// Where a ring's records end.
struct RingEnd {
  const std::byte* data = nullptr;  // followed by SJ_RECORD_MAX_BYTES of overhang
  std::uint64_t capacity = 0;       // a power of two
  std::int64_t from = 0;            // all before it was read
  // Where the owner's places end; nothing where its private page cannot be read. Then only hits
  // that have written which they are can be told.
  std::optional<std::int64_t> reserved;
  // Stamps rise: what the memory held before has lower ones, and so shows that nothing is written
  // there yet.
  std::uint64_t not_before = 0;
  std::uint64_t not_after = UINT64_MAX;
  // Where the owner stands in its code, if that is known: it tells which hit the last one is.
  HitCode stands = {};
};

struct HitUnderWay {
  const RingSites::Site* site = nullptr;  // null: it has not come so far as to say which
  std::uint64_t stamp = 0;                // 0: the same
};

std::vector<HitUnderWay> hits_under_way(const RingEnd& end, const RingSites& sites);

}  // namespace sojourn::capture
