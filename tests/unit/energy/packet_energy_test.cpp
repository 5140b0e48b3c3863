#include "analysis/energy/packet_energy.h"

#include <catch2/catch_approx.hpp>
#include <catch2/catch_test_macros.hpp>

namespace sojourn::energy {
namespace {

using Catch::Approx;

statistics::Distribution of(std::initializer_list<std::uint64_t> all_ns) {
  statistics::Distribution latencies;
  for (const std::uint64_t ns : all_ns) latencies.add(ns);
  return latencies;
}

TEST_CASE("a packet's share is over both directions, and E*T^2 is the mean over the packets") {
  const auto down = of({1'000'000, 3'000'000});  // T^2: 1 and 9, of (1 ms)^2
  const auto up = of({2'000'000, 2'000'000, 2'000'000});
  const PacketEnergy all = packet_energy(10.0, down, up);
  CHECK(all.packets == 5);
  CHECK(*all.joules == Approx(2));
  CHECK(*all.directions[0].joules == Approx(5));
  CHECK(*all.directions[1].joules == Approx(10.0 / 3));
  CHECK(*all.directions[0].energy_delay_2 == Approx(2 * 5e-6));
  CHECK(*all.directions[1].energy_delay_2 == Approx(2 * 4e-6));
}

TEST_CASE("a direction without packets and a run without energy have no figures") {
  const auto down = of({1'000'000});
  const PacketEnergy one_way = packet_energy(3.0, down, {});
  CHECK(*one_way.joules == Approx(3));
  CHECK(*one_way.directions[0].energy_delay_2 == Approx(3e-6));  // of a single packet
  CHECK_FALSE(one_way.directions[1].joules);
  CHECK_FALSE(one_way.directions[1].energy_delay_2);
  const PacketEnergy unknown = packet_energy(std::nullopt, down, down);
  CHECK(unknown.packets == 2);
  CHECK_FALSE(unknown.joules);
  CHECK_FALSE(unknown.directions[0].energy_delay_2);
  CHECK_FALSE(packet_energy(3.0, {}, {}).joules);
}

}  // namespace
}  // namespace sojourn::energy
