#include "analysis/metrics/native_buckets.h"

#include <cmath>

#include <catch2/catch_test_macros.hpp>

namespace sojourn::metrics {
namespace {

TEST_CASE("a time is in the bucket between two bounds that are 9 % apart") {
  for (const std::uint64_t ns : {std::uint64_t{2}, std::uint64_t{999}, std::uint64_t{10'000},
                                 std::uint64_t{1'234'567}, std::uint64_t{9'876'543'210}}) {
    const int bucket = NativeBuckets::bucket_of(ns);
    const double seconds = static_cast<double>(ns) / 1e9;
    CAPTURE(ns, bucket);
    CHECK(seconds <= NativeBuckets::bound_seconds(bucket) * (1 + 1e-12));
    CHECK(seconds > NativeBuckets::bound_seconds(bucket - 1));
  }
  CHECK(NativeBuckets::bucket_of(1'000'000'000) == 0);
  CHECK(NativeBuckets::bucket_of(2'000'000'000) == 8);
  CHECK(NativeBuckets::bucket_of(500'000'000) == -8);
  CHECK(std::abs(NativeBuckets::bound_seconds(1) - 1.0905077) < 1e-6);
}

TEST_CASE("times beyond the range count in the last bucket, and 0 by itself") {
  NativeBuckets buckets;
  buckets.add(0);
  buckets.add(1);
  buckets.add(UINT64_MAX);
  CHECK(buckets.zeros() == 1);
  CHECK(buckets.counts()[1] == 1);  // a nanosecond is a little more than the first bound
  CHECK(buckets.counts().back() == 1);
  CHECK(buckets.count() == 3);
}

TEST_CASE("quantiles are the bounds of their buckets, also those of later samples") {
  NativeBuckets buckets;
  CHECK(buckets.quantile_seconds(0.5) == 0);
  for (std::uint64_t ms = 1; ms <= 100; ++ms) buckets.add(ms * 1'000'000);
  const NativeBuckets before = buckets;
  for (int i = 0; i < 10; ++i) buckets.add(2'000'000'000);
  CHECK(buckets.quantile_seconds(0.5) >= 0.055);
  CHECK(buckets.quantile_seconds(0.5) < 0.055 * 1.0906);
  const NativeBuckets newer = buckets.since(before);
  CHECK(newer.count() == 10);
  CHECK(newer.quantile_seconds(0.01) == 2);
}

}  // namespace
}  // namespace sojourn::metrics
