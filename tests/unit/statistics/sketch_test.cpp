// Distributions with more samples than are kept one by one: their figures are within 0.1 %, for any
// samples in the buckets.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <functional>
#include <random>
#include <string>
#include <vector>

#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_floating_point.hpp>

#include "analysis/statistics/distribution.h"

namespace sojourn::statistics {
namespace {

using Catch::Matchers::WithinRel;

constexpr double kError = 0.001;
constexpr std::size_t kSamples = Distribution::kExactSamples + 300'000;

struct Shape {
  std::string name;
  std::function<std::uint64_t(std::size_t, std::mt19937_64&)> sample;
};

std::vector<Shape> shapes() {
  const auto anything = [](std::mt19937_64& random) { return random(); };
  return {
      {"one value, in the middle of a bucket of 2^43 ns",
       [](std::size_t, auto&) { return (std::uint64_t{1} << 43) + (std::uint64_t{1} << 32) + 1; }},
      {"around each power of two",
       [=](std::size_t, auto& random) {
         return (std::uint64_t{1} << anything(random) % 63) + anything(random) % 3 - 1;
       }},
      {"the first and the last value of buckets",
       [=](std::size_t, auto& random) {
         const auto shift = anything(random) % 40;
         const auto lowest = (1024 + anything(random) % 1024) << shift;
         return lowest + anything(random) % 2 * ((std::uint64_t{1} << shift) - 1);
       }},
      {"where single values end and buckets begin",
       [=](std::size_t, auto& random) { return 2040 + anything(random) % 16; }},
      {"two values ten decades apart, each around a quantile",
       [=](std::size_t, auto& random) {
         return anything(random) % 1000 < 990 ? std::uint64_t{7} : 70'000'000'000;
       }},
      {"a tail without a mean",
       [](std::size_t, auto& random) {
         std::uniform_real_distribution<double> share(1e-12, 1);
         return static_cast<std::uint64_t>(1000 / share(random));
       }},
      {"rising", [](std::size_t at, auto&) { return std::uint64_t{at} * at + 1; }},
      {"falling", [](std::size_t at, auto&) { return (std::uint64_t{1} << 50) / (at + 1); }},
      {"of any size",
       [=](std::size_t, auto& random) { return anything(random) >> anything(random) % 64; }},
  };
}

std::vector<std::uint64_t> samples_of(const Shape& shape) {
  std::mt19937_64 random(3);
  std::vector<std::uint64_t> values(kSamples);
  for (std::size_t at = 0; at < values.size(); ++at) values[at] = shape.sample(at, random);
  return values;
}

void check(const Distribution& times, const std::vector<std::uint64_t>& sorted) {
  REQUIRE_FALSE(times.exact());
  REQUIRE(times.count() == sorted.size());
  CHECK(times.min() == sorted.front());
  CHECK(times.max() == sorted.back());
  for (std::uint64_t in_100000 : {0, 1, 100, 10'000, 50'000, 90'000, 98'999, 99'000, 99'001, 99'900,
                                  99'990, 99'999, 100'000}) {
    CAPTURE(in_100000);
    const auto rank = std::max<std::uint64_t>((sorted.size() * in_100000 + 99'999) / 100'000, 1);
    const auto told = times.quantile(static_cast<double>(in_100000) / 1e5);
    CHECK_THAT(static_cast<double>(told), WithinRel(static_cast<double>(sorted[rank - 1]), kError));
    // The count above a value lies between the counts above its two bounds.
    const auto value = sorted[rank - 1];
    const auto beyond = [&](double limit) {
      const auto first = std::ranges::upper_bound(
          sorted, limit, {}, [](auto sample) { return static_cast<double>(sample); });
      return static_cast<std::uint64_t>(sorted.end() - first);
    };
    const auto above = times.above(value);
    CHECK(above <= beyond(static_cast<double>(value) * (1 - kError)));
    CHECK(above >= beyond(static_cast<double>(value) * (1 + kError)));
  }
}

TEST_CASE("quantiles and shares above a value are off by 0.1 % at most") {
  for (const Shape& shape : shapes()) {
    CAPTURE(shape.name);
    auto values = samples_of(shape);
    Distribution times;
    for (const auto value : values) times.add(value);
    Distribution parts;
    for (std::size_t begin = 0; begin < values.size(); begin += kSamples / 7) {
      Distribution part;
      for (auto at = begin; at < std::min(values.size(), begin + kSamples / 7); ++at)
        part.add(values[at]);
      parts.merge(part);
    }
    double sum = 0;
    for (const auto value : values) sum += static_cast<double>(value);
    CHECK_THAT(times.mean(), WithinRel(sum / static_cast<double>(kSamples), 1e-9));
    std::ranges::sort(values);
    check(times, values);
    check(parts, values);
  }
}

}  // namespace
}  // namespace sojourn::statistics
