#include "userspace/capture/records/under_way.h"

#include <algorithm>

#include "userspace/capture/records/shared.h"

namespace sojourn::capture {

std::vector<HitUnderWay> hits_under_way(const RingEnd& end, const RingSites& sites) {
  std::vector<HitUnderWay> hits;
  const auto from = static_cast<std::uint64_t>(end.from);
  std::uint64_t left = end.capacity;
  if (end.reserved)
    left =
        std::min(left, *end.reserved > end.from ? static_cast<std::uint64_t>(*end.reserved) - from
                                                : std::uint64_t{0});
  std::uint64_t not_before = end.not_before;
  for (std::uint64_t at = from; left != 0 && left % SJ_RECORD_ALIGN == 0;) {
    const std::byte* const record = end.data + (at & (end.capacity - 1));
    const auto& header = *reinterpret_cast<const sj_ring_record*>(record);
    const std::uint64_t stamp =
        std::uint64_t{load_relaxed(header.stamp_high)} << 32 | load_relaxed(header.stamp_low);
    const bool has_stamp = stamp != 0 && stamp >= not_before && stamp <= end.not_after;
    // The innermost hit is the last one. The id in its record may be from an earlier lap.
    const bool is_where_it_stands = end.stands.part == HitPart::kHasPlace &&
                                    end.stands.site != nullptr &&
                                    end.stands.site->record_bytes == left;
    if (end.reserved && is_where_it_stands) {
      hits.push_back({.site = end.stands.site, .stamp = has_stamp ? stamp : 0});
      break;
    }
    const RingSites::Site* const site = has_stamp ? sites.find(load_relaxed(header.id)) : nullptr;
    if (site == nullptr || site->record_bytes > left) {
      // The hit has its place. Its length is not known, nor whether handlers hit points behind it.
      if (end.reserved) hits.push_back({.site = nullptr, .stamp = has_stamp ? stamp : 0});
      break;
    }
    hits.push_back({.site = site, .stamp = stamp});
    at += site->record_bytes;
    left -= site->record_bytes;
    not_before = stamp;
  }
  if (end.stands.part == HitPart::kHasStamp && end.stands.site != nullptr)
    hits.push_back({.site = end.stands.site, .stamp = 0});
  return hits;
}

}  // namespace sojourn::capture
