#include "userspace/capture/bpf/arg_span.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>

namespace sojourn::capture {

namespace {

bool can_join(const sj_arg& arg) {
  return arg.kind == SJ_ARG_MEMORY && arg.index == SJ_NO_REG && arg.base != SJ_NO_REG;
}

// Returns whether the argument lies within one read that begins with `first`.
bool is_near(const sj_arg& first, const sj_arg& arg) {
  if (!can_join(arg) || arg.base != first.base || arg.displacement < first.displacement)
    return false;
  const auto from =
      static_cast<std::uint64_t>(arg.displacement) - static_cast<std::uint64_t>(first.displacement);
  return from <= std::uint64_t{SJ_MAX_SPAN} - arg.bytes;
}

}  // namespace

sj_span join_span(std::span<sj_arg> args) {
  const sj_arg* best = nullptr;
  std::ptrdiff_t most = 1;
  for (const sj_arg& first : args) {
    if (!can_join(first)) continue;
    const auto near =
        std::ranges::count_if(args, [&](const sj_arg& arg) { return is_near(first, arg); });
    if (near <= most) continue;
    most = near;
    best = &first;
  }
  if (best == nullptr) return {};
  const sj_arg first = *best;
  sj_span span = {.displacement = first.displacement, .bytes = 0, .base = first.base, .pad = {}};
  for (sj_arg& arg : args) {
    if (!is_near(first, arg)) continue;
    arg.kind = SJ_ARG_SPAN;
    arg.shift = static_cast<std::uint8_t>(arg.displacement - first.displacement);
    span.bytes = std::max(span.bytes, static_cast<std::uint16_t>(arg.shift + arg.bytes));
  }
  return span;
}

}  // namespace sojourn::capture
