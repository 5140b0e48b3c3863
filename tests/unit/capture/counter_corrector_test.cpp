// Corrections, and the bounds of their errors, for counters of three CPUs with known offsets.
#include "userspace/capture/records/counter_corrector.h"

#include <cmath>
#include <cstdint>
#include <random>

#include <catch2/catch_test_macros.hpp>

namespace sojourn::capture {
namespace {

// Counters of 2 ticks a nanosecond. CPU 4 is the first one, 5 is apart, 6 agrees within the error.
CounterOffsets three_cpus() {
  return {.first_cpu = 4,
          .others = {{.cpu = 5, .ns = 5000, .error_ns = 100, .ticks = 10'000, .error_ticks = 200},
                     {.cpu = 6, .ns = -40, .error_ns = 90, .ticks = -80, .error_ticks = 180}},
          .why_not = ""};
}

TEST_CASE("counters that agree within the error are not corrected, and the error is reported") {
  CounterOffsets agreeing = three_cpus();
  agreeing.others.erase(agreeing.others.begin());
  const CounterCorrector corrector(agreeing);
  CHECK_FALSE(corrector.is_needed());
  CHECK(corrector.of_cpu(6).ahead_ticks == 0);
  CHECK(corrector.of_any().ahead_ticks == 0);
  CHECK(corrector.of_any().is_known);
  CHECK(corrector.of_any().error_ns == 130);
  const CounterPair pair{.ticks = 1000, .ns = 500, .error_ns = 3, .cpu = 6};
  CHECK(corrector.corrected(pair).ticks == 1000);
  CHECK(corrector.corrected(pair).error_ns == 3);
}

TEST_CASE("without a measurement nothing is corrected, and no error is reported") {
  const CounterCorrector corrector;
  CHECK_FALSE(corrector.is_needed());
  CHECK(corrector.of_cpu(0).ahead_ticks == 0);
  CHECK(corrector.of_any().error_ns == 0);
}

TEST_CASE("a CPU whose counter is apart is corrected, the others of that machine are not") {
  const CounterCorrector corrector(three_cpus());
  REQUIRE(corrector.is_needed());
  CHECK(corrector.of_cpu(4).ahead_ticks == 0);
  CHECK(corrector.of_cpu(4).error_ns == 0);
  CHECK(corrector.of_cpu(5).ahead_ticks == 10'000);
  CHECK(corrector.of_cpu(5).error_ns == 100);
  CHECK(corrector.of_cpu(6).ahead_ticks == 0);
  CHECK(corrector.of_cpu(6).error_ns == 130);
}

TEST_CASE("stamps of an unknown CPU are corrected to the middle of what is possible") {
  const CounterCorrector corrector(three_cpus());
  for (const std::int32_t cpu : {-1, 7}) {
    const auto its = corrector.of_cpu(cpu);
    CHECK_FALSE(its.is_known);
    CHECK(its.ahead_ticks == (10'200 - 260) / 2);
    CHECK(its.error_ns == (5100 + 130) / 2);
  }
}

TEST_CASE("a pair of clocks is converted to the first CPU's counter") {
  const CounterCorrector corrector(three_cpus());
  const auto corrected =
      corrector.corrected({.ticks = 50'000, .ns = 700, .error_ns = 30, .cpu = 5});
  CHECK(corrected.ticks == 40'000);
  CHECK(corrected.ns == 700);
  CHECK(corrected.error_ns == 130);
}

TEST_CASE("a corrected stamp is within its bound of the truth, wherever the counters truly are") {
  std::mt19937_64 random(7);
  std::uniform_real_distribution<double> off(-50'000, 50'000);
  std::uniform_real_distribution<double> inexact(-1, 1);
  constexpr double kTicksPerNs = 2;
  for (int machine = 0; machine < 1000; ++machine) {
    double truth_ns[3] = {0, off(random), off(random) / 1000};
    CounterOffsets measured{.first_cpu = 0, .others = {}, .why_not = ""};
    for (std::uint32_t cpu = 1; cpu < 3; ++cpu) {
      CounterOffset& each = measured.others.emplace_back();
      each.cpu = cpu;
      each.error_ns = 100;
      each.ns = truth_ns[cpu] + inexact(random) * each.error_ns;
      each.ticks = each.ns * kTicksPerNs;
      each.error_ticks = each.error_ns * kTicksPerNs;
    }
    const CounterCorrector corrector(measured);
    for (std::int32_t cpu = 0; cpu < 3; ++cpu)
      for (const auto its : {corrector.of_cpu(cpu), corrector.of_any()}) {
        const double left_ns = truth_ns[cpu] - static_cast<double>(its.ahead_ticks) / kTicksPerNs;
        CAPTURE(cpu, truth_ns[cpu], left_ns, its.error_ns);
        CHECK(std::abs(left_ns) <= static_cast<double>(its.error_ns) + 0.5);
      }
  }
}

}  // namespace
}  // namespace sojourn::capture
