#include "userspace/capture/records/ring_clock.h"

#include <cmath>
#include <cstdlib>
#include <random>

#include <catch2/catch_test_macros.hpp>

namespace sojourn::capture {
namespace {

constexpr std::uint64_t kMillisecond = 1'000'000;

// A counter of 2.5 GHz beside a clock that runs off from it by `drift`.
struct Machine {
  double drift = 0;
  std::uint64_t ns_of(std::uint64_t ticks) const {
    return 1'000'000'000 +
           static_cast<std::uint64_t>(static_cast<double>(ticks) * 0.4 * (1 + drift));
  }
  CounterPair pair(std::uint64_t ticks, std::int64_t misread_ns = 0) const {
    return {ticks, ns_of(ticks) + static_cast<std::uint64_t>(misread_ns), 20};
  }
};

constexpr std::uint64_t kTicksPerMillisecond = 2'500'000;

std::uint64_t apart(std::uint64_t a, std::uint64_t b) {
  return a > b ? a - b : b - a;
}

TEST_CASE("a steady counter is converted to the nanosecond") {
  const Machine machine;
  RingClock clock(machine.pair(0), machine.pair(10 * kTicksPerMillisecond));
  for (std::uint64_t ms = 20; ms < 5000; ms *= 2)
    clock.add(machine.pair(ms * kTicksPerMillisecond));
  for (std::uint64_t ms = 3000; ms < 6000; ms += 7)
    CHECK(apart(clock.to_ns(ms * kTicksPerMillisecond), machine.ns_of(ms * kTicksPerMillisecond)) <=
          3);
  CHECK(clock.largest_error_ns() <= 23);
}

TEST_CASE("stamps never go backwards, however badly the pairs are read") {
  std::mt19937_64 random(1);
  std::uniform_int_distribution<std::int64_t> misread(-200'000, 200'000);
  const Machine machine;
  RingClock clock(machine.pair(0), machine.pair(10 * kTicksPerMillisecond));
  std::uint64_t before = 0;
  std::uint64_t ticks = 10 * kTicksPerMillisecond;
  for (int pair = 0; pair < 200; ++pair) {
    for (int step = 0; step < 100; ++step) {
      ticks += kTicksPerMillisecond / 10;
      const std::uint64_t now = clock.to_ns(ticks);
      REQUIRE(now >= before);
      before = now;
    }
    clock.add(machine.pair(ticks, misread(random)));
    REQUIRE(clock.to_ns(ticks) >= before - 1);
  }
}

TEST_CASE("times that were converted before a new pair stay the same") {
  const Machine machine{.drift = 1e-5};
  RingClock clock(Machine{}.pair(0), Machine{}.pair(10 * kTicksPerMillisecond));
  const std::uint64_t stamp = 15 * kTicksPerMillisecond;
  const std::uint64_t converted = clock.to_ns(stamp);
  clock.add(machine.pair(20 * kTicksPerMillisecond));
  CHECK(clock.to_ns(stamp) == converted);
  CHECK(apart(clock.to_ns(20 * kTicksPerMillisecond), Machine{}.ns_of(20 * kTicksPerMillisecond)) <=
        2);
}

TEST_CASE("a clock that is slewed is followed, and the error on the way is reported") {
  const Machine slewed{.drift = 5e-4};  // the most that adjtimex allows
  RingClock clock(Machine{}.pair(0), Machine{}.pair(10 * kTicksPerMillisecond));
  // The slewed clock from here on, without a jump.
  const std::uint64_t from = 10 * kTicksPerMillisecond;
  const std::int64_t step = static_cast<std::int64_t>(Machine{}.ns_of(from)) -
                            static_cast<std::int64_t>(slewed.ns_of(from));
  std::uint64_t ms = 10;
  for (std::uint64_t interval = 10; ms < 20'000;
       interval = std::min<std::uint64_t>(2 * interval, 1000)) {
    ms += interval;
    clock.add(slewed.pair(ms * kTicksPerMillisecond, step));
  }
  const std::uint64_t ticks = (ms + 500) * kTicksPerMillisecond;
  CHECK(apart(clock.to_ns(ticks), slewed.ns_of(ticks) + static_cast<std::uint64_t>(step)) < 100);
  CHECK(clock.largest_error_ns() > 1000);
}

TEST_CASE("ticks and nanoseconds are each other's inverse near now") {
  const Machine machine{.drift = 1e-6};
  RingClock clock(machine.pair(0), machine.pair(10 * kTicksPerMillisecond));
  clock.add(machine.pair(30 * kTicksPerMillisecond));
  const std::uint64_t now_ns = clock.to_ns(30 * kTicksPerMillisecond);
  for (const std::uint64_t ns : {now_ns, now_ns + 100 * kMillisecond, now_ns - 5 * kMillisecond})
    CHECK(apart(clock.to_ns(clock.to_ticks(ns)), ns) <= 1);
}

TEST_CASE("pairs come ever more rarely, once a second at last") {
  const Machine machine;
  RingClock clock(machine.pair(0), machine.pair(10 * kTicksPerMillisecond));
  std::uint64_t last_ns = machine.ns_of(10 * kTicksPerMillisecond);
  std::uint64_t interval = clock.next_pair_ns() - last_ns;
  CHECK(interval == 10 * kMillisecond);
  for (int pair = 0; pair < 12; ++pair) {
    const std::uint64_t ns = clock.next_pair_ns();
    clock.add(machine.pair(clock.to_ticks(ns)));
    const std::uint64_t longer = clock.next_pair_ns() - ns;
    CHECK(longer + 2 >= interval);
    interval = longer;
  }
  CHECK(apart(interval, 1000 * kMillisecond) <= 2);
}

TEST_CASE("a pair that is no newer changes nothing") {
  const Machine machine;
  RingClock clock(machine.pair(0), machine.pair(10 * kTicksPerMillisecond));
  const std::uint64_t next = clock.next_pair_ns();
  clock.add(machine.pair(10 * kTicksPerMillisecond));
  clock.add(machine.pair(5 * kTicksPerMillisecond));
  CHECK(clock.next_pair_ns() == next);
}

TEST_CASE("the machine's own counter and clock run together") {
  const CounterPair first = read_counter_pair();
  const CounterPair second = read_counter_pair();
  CHECK(second.ticks > first.ticks);
  CHECK(second.ns > first.ns);
}

}  // namespace
}  // namespace sojourn::capture
