#include "userspace/capture/records/hit_code.h"

namespace sojourn::capture {

namespace {

// A span of code, in bytes from the instruction whose address is the record's id.
struct Span {
  std::int32_t first = 0;
  std::int32_t last = 0;

  bool has(std::int32_t at) const { return first <= at && at <= last; }
};

#if defined(__x86_64__)
constexpr Span kUntilId{-27, 7};      // from behind cmpxchg to the store of the id
constexpr std::int32_t kTakes = -35;  // cmpxchg

// The span behind rdtsc: shl, or, and a lea whose length depends on the record's.
Span stamped(const RingSites::Site& site) {
  constexpr std::uint8_t kMaxInOneByte = 128;
  const std::int32_t lea = site.record_bytes <= kMaxInOneByte ? 4 : 7;
  return {kTakes - lea - 7, kTakes};
}
#else
constexpr Span kUntilId{-28, 4};

Span stamped(const RingSites::Site&) {
  return {1, 0};
}
#endif

}  // namespace

HitCode find_hit(const RingSites& sites, std::uint64_t instruction) {
  for (const RingSites::Site& site : sites.places()) {
    if (site.record_bytes == 0) continue;
    const auto at = static_cast<std::int32_t>(static_cast<std::uint32_t>(instruction) - site.id);
    if (kUntilId.has(at)) return {.site = &site, .part = HitPart::kHasPlace};
    if (stamped(site).has(at)) return {.site = &site, .part = HitPart::kHasStamp};
  }
  return {};
}

}  // namespace sojourn::capture
