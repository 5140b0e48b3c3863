// The points that these tests hit: a small and a large one, numbered.
#pragma once

#include <cstdint>

#include <sojourn/point.h>

#include "tests/probes/rings/own_arena.h"

namespace sojourn::test {

[[gnu::noinline]] inline void hit_small(std::uint64_t number) {
  const std::uint8_t kind = kSmall;
  SJ_POINT("D rings.small--rings.out", "kind::number", kind, number);
}

[[gnu::noinline]] inline void hit_large(std::uint64_t number) {
  const std::uint8_t kind = kLarge;
  SJ_POINT("D rings.large--rings.out", "kind.a.b.c::number.d.e.f.g.h", kind, number, number, number,
           number, number, number, number, number, number);
}

}  // namespace sojourn::test
