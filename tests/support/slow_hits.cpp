// A part of sojourn-slow-hits, which differs from sojourn only in this: each hit takes the
// environment's SJ_HIT_DELAY_NS longer, at most 20 us, as on a machine whose traps are expensive.
#include <algorithm>
#include <charconv>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "userspace/capture/bpf/hit_delay.h"

namespace sojourn::capture {

std::uint32_t hit_delay_ns() {
  constexpr std::uint32_t kMaxNs = 20'000;
  // NOLINTNEXTLINE(concurrency-mt-unsafe): it never changes
  const char* const variable = std::getenv("SJ_HIT_DELAY_NS");
  if (variable == nullptr) return 0;
  const std::string_view text = variable;
  std::uint32_t delay_ns = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), delay_ns);
  if (error != std::errc() || end != text.data() + text.size()) std::abort();
  return std::min(delay_ns, kMaxNs);
}

}  // namespace sojourn::capture
