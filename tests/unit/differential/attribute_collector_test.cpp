#include "analysis/differential/attribute_collector.h"

#include <algorithm>
#include <array>
#include <string>
#include <vector>

#include <catch2/catch_test_macros.hpp>

#include "analysis/model/unread.h"

namespace sojourn::differential {
namespace {

model::Schema schema_of_two_points() {
  return {.points = {*model::parse_point("D in--wait", "unread-fields:rnti.drb"),
                     *model::parse_point("D wait--out", ":rnti.drb")}};
}

// Packets that take 1 ms from the first point to the second.
class Packets {
 public:
  void add(const std::vector<std::uint64_t>& in, const std::vector<std::uint64_t>& out,
           std::uint32_t tid) {
    const std::uint64_t start_ns = ++number_ * 1'000'000'000;
    constexpr std::array<std::uint32_t, 1> kFirst = {0};
    const std::array<journeys::Step, 2> steps = {
        journeys::Step{.ts_ns = start_ns, .tid = tid, .stream = 0, .point = 0, .values = in},
        journeys::Step{.ts_ns = start_ns + 1'000'000,
                       .tid = tid + 1,
                       .stream = 0,
                       .point = 1,
                       .values = out,
                       .parents = kFirst}};
    collector_.on_journey({.id = number_,
                           .outcome = journeys::Outcome::kComplete,
                           .start_ns = start_ns,
                           .end_ns = start_ns + 1'000'000,
                           .end_step = 1,
                           .steps = steps});
  }

  const PacketAttributes& table() {
    collector_.finish();
    return collector_.of(model::Direction::kDownlink);
  }

 private:
  static journeys::Topology topology_of(const model::Schema& schema) {
    auto made = journeys::Topology::derive(schema, {});
    REQUIRE(made);
    return std::move(*made);
  }

  std::uint64_t number_ = 0;
  model::Schema schema_ = schema_of_two_points();
  journeys::Topology topology_ = topology_of(schema_);
  std::vector<model::Stream> streams_;
  AttributeCollector::About about_ = {.schema = schema_,
                                      .topology = topology_,
                                      .streams = streams_,
                                      .thread_names = {{7, "rlc"}},
                                      .origin_ns = 0};
  AttributeCollector collector_{about_,
                                [](const journeys::Journey& journey) { return journey.id == 1; }};
};

// The text of an attribute's value of each packet; "-": the packet has none.
std::vector<std::string> texts(const PacketAttributes& table, const std::string& name) {
  const auto found = std::ranges::find(table.attributes, name, &Attribute::name);
  REQUIRE(found != table.attributes.end());
  std::vector<std::string> told;
  for (const std::uint32_t value : found->of)
    told.push_back(value == kNoValue ? "-" : found->values[value]);
  return told;
}

std::string condition(const PacketAttributes& table, const std::string& name,
                      const std::string& value) {
  const auto found = std::ranges::find(table.attributes, name, &Attribute::name);
  REQUIRE(found != table.attributes.end());
  const auto at = std::ranges::find(found->values, value) - found->values.begin();
  return found->conditions.at(static_cast<std::size_t>(at));
}

TEST_CASE("a packet has the ids of its first event that has them") {
  Packets packets;
  packets.add({0, 0x11, 1}, {0x99, 9}, 7);
  packets.add({0, 0x12, 2}, {0x99, 9}, 7);
  packets.add({0, 0x11, 2}, {0x99, 9}, 8);
  packets.add({0, 0x12, 1}, {0x99, 9}, 7);
  const PacketAttributes& table = packets.table();
  CHECK(texts(table, "rnti") == std::vector<std::string>{"0x11", "0x12", "0x11", "0x12"});
  CHECK(texts(table, "drb") == std::vector<std::string>{"1", "2", "2", "1"});
  CHECK(condition(table, "rnti", "0x12") == "rnti == 0x12");
  CHECK(texts(table, "thread at in--wait") ==
        std::vector<std::string>{"rlc 7", "rlc 7", "8", "rlc 7"});
  CHECK(texts(table, "thread at wait--out") == std::vector<std::string>{"8", "8", "9", "8"});
}

TEST_CASE("an id that could not be read is no number, and has no filter") {
  constexpr std::uint64_t kRnti = 0b10;  // the second field
  Packets packets;
  packets.add({0, 0, 1}, {0x99, 9}, 7);
  packets.add({kRnti, 0, 1}, {0x99, 9}, 7);
  packets.add({0, 0, 1}, {0x99, 9}, 7);
  const PacketAttributes& table = packets.table();
  CHECK(texts(table, "rnti") == std::vector<std::string>{"0x0", "?", "0x0"});
  CHECK(condition(table, "rnti", "?").empty());
}

TEST_CASE("values beyond the limit are others, also where they come again") {
  constexpr std::uint64_t kIds = AttributeCollector::kMaxValues + 3;
  Packets packets;
  for (int round = 0; round < 2; ++round)
    for (std::uint64_t id = 1; id <= kIds; ++id) packets.add({0, id, 1}, {id, 1}, 7);
  const auto rnti = texts(packets.table(), "rnti");
  REQUIRE(rnti.size() == 2 * kIds);
  for (std::size_t at = 0; at < kIds; ++at) {
    CHECK(rnti[at] == rnti[kIds + at]);
    CHECK((rnti[at] == "other") == (at >= AttributeCollector::kMaxValues));
  }
}

}  // namespace
}  // namespace sojourn::differential
