#include "analysis/statistics/slow_from.h"

#include <cstdint>

#include <catch2/catch_test_macros.hpp>

namespace sojourn::statistics {
namespace {

// Latencies of 1 ... `packets` nanoseconds.
Distribution different(std::uint64_t packets) {
  Distribution latencies;
  for (std::uint64_t ns = packets; ns > 0; --ns) latencies.add(ns);
  return latencies;
}

TEST_CASE("a hundredth of the packets is slow, and one at least") {
  for (const std::uint64_t packets : {1U, 2U, 30U, 99U, 100U, 101U, 250U, 11'999U, 12'001U}) {
    CAPTURE(packets);
    const Distribution latencies = different(packets);
    const std::uint64_t slow = latencies.above(slow_from(latencies));
    CHECK(slow == (packets < 200 ? 1 : packets / 100));
  }
}

TEST_CASE("packets that all took as long are all slow, and without packets none is") {
  Distribution same;
  for (int packet = 0; packet < 10; ++packet) same.add(7);
  CHECK(same.above(slow_from(same)) == 10);
  CHECK(slow_from(Distribution()) == UINT64_MAX);
}

}  // namespace
}  // namespace sojourn::statistics
