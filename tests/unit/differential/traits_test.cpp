#include "analysis/differential/traits.h"

#include <random>
#include <string>
#include <vector>

#include <catch2/catch_approx.hpp>
#include <catch2/catch_test_macros.hpp>

namespace sojourn::differential {
namespace {

using Catch::Approx;

// Packets of four UEs and three sizes. `risk` says how likely one is slow.
template <typename Risk>
PacketAttributes made(std::uint64_t seed, std::size_t packets, Risk risk) {
  std::mt19937_64 random(seed);
  std::uniform_real_distribution<double> uniform(0, 1);
  PacketAttributes table;
  table.attributes = {{.name = "ue", .values = {"a", "b", "c", "d"}, .of = {}},
                      {.name = "size", .values = {"small", "middle", "large"}, .of = {}}};
  for (std::size_t at = 0; at < packets; ++at) {
    const auto ue = static_cast<std::uint32_t>(random() % 4);
    const auto size = static_cast<std::uint32_t>(random() % 3);
    table.attributes[0].of.push_back(ue);
    table.attributes[1].of.push_back(size);
    table.is_slow.push_back(uniform(random) < risk(at, ue, size));
  }
  return table;
}

TEST_CASE("traits that make packets slow are named with support and risk") {
  const auto table = made(
      1, 20'000, [](std::size_t, std::uint32_t ue, std::uint32_t) { return ue == 2 ? 0.1 : 0.01; });
  const auto traits = distinguish(table, {.blocks = 40});
  REQUIRE_FALSE(traits.empty());
  const Trait& first = traits.front();
  CHECK(first.what == std::vector<std::pair<std::string, std::string>>{{"ue", "c"}});
  CHECK(first.risk == Approx(0.1).epsilon(0.1));
  CHECK(first.risk_ratio == Approx(10).epsilon(0.25));
  CHECK(first.support == Approx(0.77).epsilon(0.1));
  REQUIRE(first.p);
  CHECK(*first.p == Approx(0.005));
}

TEST_CASE("a pair is listed if it says more than each of its two") {
  const auto table = made(2, 20'000, [](std::size_t, std::uint32_t ue, std::uint32_t size) {
    return ue == 1 && size == 2 ? 0.3 : 0.01;
  });
  const auto traits = distinguish(table, {.blocks = 40});
  REQUIRE_FALSE(traits.empty());
  CHECK(traits.front().what ==
        std::vector<std::pair<std::string, std::string>>{{"ue", "b"}, {"size", "large"}});
  const auto alone = made(
      3, 20'000, [](std::size_t, std::uint32_t ue, std::uint32_t) { return ue == 1 ? 0.1 : 0.01; });
  for (const Trait& each : distinguish(alone, {.blocks = 40}))
    if (each.p && *each.p < 0.05) CHECK(each.what.size() == 1);
}

TEST_CASE("if only chance decides, hardly any trait is striking, also in slow periods") {
  unsigned alarms = 0;
  constexpr unsigned kTrials = 100;
  for (unsigned trial = 0; trial < kTrials; ++trial) {
    // Slow for a while, as queues are; and a UE that sends for a while.
    std::mt19937_64 random(trial);
    PacketAttributes table;
    table.attributes = {{.name = "ue", .values = {"a", "b", "c", "d"}, .of = {}}};
    bool is_slow = false;
    std::uint32_t ue = 0;
    for (unsigned at = 0; at < 4000; ++at) {
      if (random() % 25 == 0) is_slow = random() % 10 == 0;
      if (random() % 25 == 0) ue = static_cast<std::uint32_t>(random() % 4);
      table.attributes[0].of.push_back(ue);
      table.is_slow.push_back(is_slow);
    }
    for (const Trait& each : distinguish(table, {.blocks = 32, .permutations = 99}))
      if (each.p && *each.p <= 0.05) {
        ++alarms;
        break;
      }
  }
  CHECK(alarms <= 11);
}

TEST_CASE("too few blocks give no p-value, and nothing slow gives no traits") {
  const auto table = made(
      4, 500, [](std::size_t, std::uint32_t ue, std::uint32_t) { return ue == 0 ? 0.5 : 0.1; });
  const auto traits = distinguish(table, {.blocks = 4});
  REQUIRE_FALSE(traits.empty());
  CHECK_FALSE(traits.front().p);
  CHECK(distinguish(made(5, 100, [](auto...) { return 0.0; }), {}).empty());
  CHECK(distinguish(made(5, 100, [](auto...) { return 1.0; }), {}).empty());
  CHECK(distinguish({}, {}).empty());
}

TEST_CASE("attributes that go together are listed once") {
  auto table = made(
      6, 5'000, [](std::size_t, std::uint32_t ue, std::uint32_t) { return ue == 3 ? 0.2 : 0.01; });
  table.attributes.push_back({.name = "thread", .values = {"1", "2", "3", "4"}, .of = {}});
  table.attributes.back().of = table.attributes.front().of;
  const auto traits = distinguish(table, {.blocks = 20});
  REQUIRE_FALSE(traits.empty());
  CHECK(traits.front().alike == 1);
  for (const Trait& other : traits)
    if (&other != traits.data()) CHECK(other.packets != traits.front().packets);
}

TEST_CASE("sizes are grouped by powers of two") {
  CHECK(power_of_two_label(0) == "0");
  CHECK(power_of_two_label(1) == "1");
  CHECK(power_of_two_label(2) == "2..3");
  CHECK(power_of_two_label(1500) == "1024..2047");
  CHECK(power_of_two_label(UINT64_MAX) == "9223372036854775808..18446744073709551615");
}

}  // namespace
}  // namespace sojourn::differential
