// A 5G NR uplink with HARQ, segmentation, reordering and ids that are used again all the time:
// every packet and each of its segments must be found, without a rule file, and none may be
// invented.
#include "tests/cli/nr_uplink.h"

#include <cstdint>
#include <map>
#include <set>
#include <sstream>
#include <string>

#include <catch2/catch_test_macros.hpp>
#include <catch2/generators/catch_generators.hpp>
#include <nlohmann/json.hpp>

#include "tests/cli/programs.h"

namespace sojourn::cli_tests {
namespace {

using nlohmann::json;

std::set<std::size_t> numbers_of(const json& journey, const json& positions) {
  std::set<std::size_t> numbers;
  for (const json& at : positions)
    numbers.insert(journey["events"][at.get<std::size_t>()]["seq"].get<std::size_t>());
  return numbers;
}

// Checks that the journey is the packet: the same events, each with its true parents.
void require_same(const NrUplink& truth, const NrUplink::Packet& packet, const json& journey) {
  CAPTURE(journey.dump());
  std::set<std::size_t> found;
  for (const json& event : journey["events"]) {
    const auto at = event["seq"].get<std::size_t>();
    found.insert(at);
    const auto& [parents, repeat_of] = truth.events.at(at);
    REQUIRE(numbers_of(journey, event["parents"]) ==
            std::set<std::size_t>(parents.begin(), parents.end()));
    if (repeat_of)
      REQUIRE(numbers_of(journey, json::array({event["repeat_of"]})) == std::set{*repeat_of});
  }
  REQUIRE(found == packet.events);
  REQUIRE(journey["segments"] == packet.segments);
  REQUIRE(journey["harq_retransmissions"] == packet.harq_rounds);
  REQUIRE(!journey["ambiguous"].get<bool>());
}

struct Sums {
  std::uint64_t segments = 0;
  std::uint64_t rounds = 0;
  std::uint64_t leftovers = 0;
  std::uint64_t reordered = 0;
};

void check(const test::TemporaryDirectory& directory, const NrUplink& truth, Sums& sums) {
  const std::string recording = directory.path("nr.lseq");
  test::write_contents(recording, truth.text);
  const std::string trace = directory.path("nr.sjt");
  REQUIRE(sojourn({"import", recording, "-o", trace}).exit_code == 0);

  std::map<std::size_t, const NrUplink::Packet*> packets;
  for (const auto& packet : truth.packets) packets[packet.out] = &packet;
  std::uint64_t complete = 0;
  std::map<std::string, std::uint64_t> dropped;  // by point
  std::istringstream lines(output_of({"journeys", trace, "--json"}));
  for (std::string line; std::getline(lines, line);) {
    const json journey = json::parse(line);
    const json& end = journey["events"][journey["end_event"].get<std::size_t>()];
    if (journey["outcome"] == "dropped") ++dropped[end["dest"]];
    if (!journey["complete"].get<bool>()) continue;
    ++complete;
    const auto packet = packets.find(end["seq"].get<std::size_t>());
    REQUIRE(packet != packets.end());
    require_same(truth, *packet->second, journey);
  }
  CHECK(complete == truth.packets.size());
  CHECK(dropped["mac.retxdrop"] == truth.lost_blocks);
  CHECK(dropped["pdcp.discarded.late"] == truth.late);
  for (const auto& packet : truth.packets) {
    sums.segments += packet.segments;
    sums.rounds += packet.harq_rounds;
  }
  sums.leftovers += truth.leftovers;
  sums.reordered += truth.reordered;
}

TEST_CASE("every packet of an NR uplink, and each of its pieces, comes out of reused ids") {
  const test::TemporaryDirectory directory;
  Sums sums;
  for (std::uint32_t seed = 1; seed <= 6; ++seed) {
    CAPTURE(seed);
    check(directory, make_nr_uplink(seed, 501), sums);
  }
  // The recording must contain the case under test.
  CHECK(sums.segments > 5000);
  CHECK(sums.rounds > 1000);
  CHECK(sums.leftovers > 50);
  CHECK(sums.reordered > 50);
}

TEST_CASE("the same holds for every way of recording rounds and placing units") {
  const test::TemporaryDirectory directory;
  const NrShape shape = GENERATE(NrShape{.asks_again = false}, NrShape{.round = "hqround"},
                                 NrShape{.asks_again = false, .round = "round"},
                                 NrShape{.apart_us = 2}, NrShape{.apart_us = 2, .one_buffer = true},
                                 NrShape{.asks_again = false, .apart_us = 1, .one_buffer = true},
                                 NrShape{.unasked = 30});
  CAPTURE(shape.asks_again, shape.unasked, shape.round, shape.apart_us, shape.one_buffer);
  Sums sums;
  for (std::uint32_t seed = 1; seed <= 2; ++seed) {
    CAPTURE(seed);
    check(directory, make_nr_uplink(seed, 501, shape), sums);
  }
  CHECK(sums.rounds > 300);
}

}  // namespace
}  // namespace sojourn::cli_tests
