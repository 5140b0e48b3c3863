#include "analysis/journeys/topology.h"

#include <algorithm>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include <catch2/catch_test_macros.hpp>
#include <fmt/format.h>

#include "analysis/journeys/rule_file.h"
#include "tests/unit/journeys/world.h"

namespace sojourn::journeys {
namespace {

struct Derived {
  model::Schema schema;
  Topology topology;

  explicit Derived(std::string_view points) {
    std::istringstream words{std::string(points)};
    std::string direction;
    std::string where;
    std::string fields;
    while (words >> direction >> where >> fields)
      schema.points.push_back(*model::parse_point(fmt::format("{} {}", direction, where), fields));
    topology = *Topology::derive(schema, Rules{});
  }

  PointId id(std::string_view name) const {
    for (std::size_t i = 0; i < schema.points.size(); ++i)
      if (schema.points[i].name() == name) return static_cast<PointId>(i);
    FAIL("no point " << name);
    return 0;
  }
  const PointPlan& point(std::string_view name) const { return topology.points[id(name)]; }
  const Pair& pair(std::string_view parent, std::string_view child) const {
    return topology.pair(id(parent), id(child));
  }
};

TEST_CASE("inputs, outputs, drops, acknowledgements and control are found from the words") {
  const Derived radio(radio_points());
  CHECK(radio.point("ip.in--pdcp.in").input);
  CHECK(radio.point("phy.in.ant--phy.in.proc").input);
  CHECK(radio.point("phy.out.proc--phy.out.ant").output);
  CHECK(radio.point("gtp.tx--ip.out").output);
  CHECK(radio.point("rlc.tx.am--rlc.ack").ack);
  CHECK(radio.point("pdcp.tx--rlc.tx.am").awaits_ack);
  CHECK_FALSE(radio.point("pdcp.tx--rlc.tx.um").awaits_ack);
  CHECK(radio.point("mac.harq.down--drop").drop);
  CHECK(radio.point("rlc.ctrl.am--mac.mux").control);
  CHECK_FALSE(radio.point("rlc.ctrl.am--mac.mux").input);
  CHECK(radio.point("mac.demux--rlc.ctrl.am").control);
  CHECK_FALSE(radio.point("mac.demux--rlc.ctrl.am").output);
}

TEST_CASE("numbering by segments is derived from the ids") {
  const Derived sent(R"(
    D in--pdcp len:rnti:drb.psn
    D pdcp--rlc len:rnti:lcid.psn
    D rlc--seg len:rnti:lcid
    D seg--out len:rnti:lcid.sn.so
  )");
  CHECK(sent.pair("rlc--seg", "seg--out").numbered_by_segments);
  CHECK(sent.pair("rlc--seg", "seg--out").cuts());
  CHECK_FALSE(sent.pair("pdcp--rlc", "rlc--seg").numbered_by_segments);
  // A whole unit need not have an offset.
  const Derived whole(R"(
    D in--rlc len:rnti:lcid.psn
    D rlc--out len:rnti:lcid.sn
    D rlc--out len:rnti:lcid.sn.so
  )");
  CHECK(whole.topology.pair(0, 1).numbered_by_segments);
  CHECK(whole.topology.pair(0, 2).numbered_by_segments);
  // Units that leave a block had their number before they were put there.
  const Derived received(R"(
    U phy--mac len:rnti:fm.lcid
    U mac--rlc len:rnti:fm.lcid.sn.so
    U rlc--out len:rnti:lcid.sn
  )");
  CHECK_FALSE(received.pair("phy--mac", "mac--rlc").numbered_by_segments);
  CHECK(received.pair("phy--mac", "mac--rlc").unpacks_block());
  const Derived both(R"(
    U in--mux len:rnti:lcid.sn.so
    U mux--air len:rnti:hqpid.fm
    U air--mac len:rnti:lcid.fm
    U mac--rlc len:rnti:lcid.sn.so
    U rlc--out len:rnti:lcid.sn
  )");
  CHECK_FALSE(both.pair("air--mac", "mac--rlc").numbered_by_segments);
}

TEST_CASE("cardinalities follow from the ids") {
  const Derived radio(radio_points());
  SECTION("one sequence number for another: one unit") {
    CHECK_FALSE(radio.pair("pdcp.in--pdcp.tx", "pdcp.tx--rlc.tx.am").gathers());
    CHECK_FALSE(radio.pair("rlc.rx.um--pdcp.rx", "pdcp.rx--gtp.tx").gathers());
  }
  SECTION("pieces by offset") {
    CHECK(radio.pair("mac.demux--rlc.rx.am", "rlc.rx.am--pdcp.rx").gathers());
    CHECK(radio.pair("mac.demux--rlc.rx.am", "rlc.rx.am--pdcp.rx").reassembles());
    CHECK(radio.pair("pdcp.tx--rlc.tx.am", "rlc.tx.am--rlc.seg.am").cuts());
  }
  SECTION("the same piece in both") {
    CHECK_FALSE(radio.pair("rlc.tx.am--rlc.seg.am", "rlc.seg.am--mac.mux").gathers());
    CHECK_FALSE(radio.pair("mac.demux--rlc.rx.am", "rlc.rx.am--drop").gathers());
  }
  SECTION("a block takes everything of its slot, and offsets in it are not its own") {
    CHECK(radio.pair("rlc.seg.am--mac.mux", "mac.mux--mac.harq.down").gathers());
    CHECK_FALSE(radio.pair("rlc.seg.am--mac.mux", "mac.mux--mac.harq.down").reassembles());
    CHECK_FALSE(radio.pair("phy.in.proc--mac.demux", "mac.demux--rlc.rx.am").cuts());
  }
}

TEST_CASE("ids of units in a block are only kept if the units come out in the same trace") {
  const auto asks = [](const Derived& derived) {
    return std::ranges::any_of(derived.topology.points,
                               [](const PointPlan& plan) { return plan.block.comes_out; });
  };
  CHECK_FALSE(asks(Derived(radio_points())));
  const std::string sent =
      "D rlc--mux len:rnti:lcid.sn.so.slot\n D mux--phy len:rnti:harq.slot\n"
      "D phy--air len.round:rnti:harq.slot\n";
  const std::string received =
      "D air--demux len:rnti:harq.slot\n D demux--rlc.rx len:rnti:lcid.sn.so.slot\n"
      "D demux--ctrl len:rnti:lcid.slot\n";
  CHECK_FALSE(asks(Derived(sent)));
  CHECK_FALSE(asks(Derived(received)));
  const Derived both(sent + received);
  CHECK(both.point("mux--phy").block.way == BlockWay::kFilled);
  CHECK(both.point("phy--air").block.way == BlockWay::kInside);
  CHECK(both.point("air--demux").block.way == BlockWay::kInside);
  CHECK(both.point("demux--rlc.rx").block.comes_out);
  CHECK(both.point("demux--rlc.rx").block.way == BlockWay::kOutside);
  CHECK(both.point("demux--ctrl").block.comes_out);
  CHECK(both.point("rlc--mux").block.way == BlockWay::kOutside);
}

TEST_CASE("a unit that leaves a part of a place for the whole does not come back to the part") {
  const Derived line("D a--phy.out.proc len:rnti:slot\n D phy.out.proc--phy.out len:rnti:slot");
  CHECK(line.point("phy.out.proc--phy.out").output);
  CHECK(line.point("a--phy.out.proc").place.has_value());
  REQUIRE(line.topology.pairs.size() == 1);
  CHECK(line.topology.loops == 0);
  // The other way round as well, and through the place itself it does.
  const Derived part("D a--b len:rnti:sn\n D b--b.c len:rnti:sn");
  CHECK(part.point("b--b.c").output);
  const Derived again("D a--b len:rnti:sn\n D b--b len:rnti:sn\n D b--c len:rnti:sn");
  CHECK_FALSE(again.point("b--b").output);
  // A place that is filled again from further on is fed.
  const Derived nack(
      "D a--rlc.tx len:rnti:sn\n D rlc.tx.am--nack len:rnti:sn\n"
      "D nack--rlc.tx len:rnti:sn");
  CHECK_FALSE(nack.point("nack--rlc.tx").output);
}

TEST_CASE("a UE that is named no more does not make many units one, where numbers say which") {
  const Derived core(
      "U rlc.rx--pdcp.rx len:rnti:rsn\n U pdcp.rx--gtp.tx len:rnti.teid:rsn.gsn\n"
      "U gtp.tx--ip.out len:teid:gsn\n D slots--tb len:rnti:slot\n"
      "D tb--air len::slot");
  CHECK_FALSE(core.pair("pdcp.rx--gtp.tx", "gtp.tx--ip.out").gathers());
  CHECK(core.pair("slots--tb", "tb--air").gathers());
}

TEST_CASE("words mean something only as whole parts") {
  const Rules rules;
  CHECK(rules.is_drop("drop"));
  CHECK(rules.is_drop("drop.queue"));
  CHECK(rules.is_drop("rlc.drop"));
  CHECK_FALSE(rules.is_drop("dropper"));
  CHECK_FALSE(rules.is_drop("rlc.dropped.am"));
  CHECK(Rules::sounds_like_drop("mac.retxdrop"));
  CHECK(Rules::sounds_like_drop("pdcp.discarded.late"));
  CHECK(Rules::sounds_like_drop("phy.TB_drop"));
  CHECK_FALSE(Rules::sounds_like_drop("rlc.dropper"));
  CHECK_FALSE(Rules::sounds_like_drop(""));
  CHECK(rules.is_ack("rlc.ack"));
  CHECK_FALSE(rules.is_ack("rlc.ack.wait"));
  CHECK(rules.is_control("rlc.ctrl.am"));
  CHECK_FALSE(rules.is_control("rlc.ctrlx"));
  CHECK_FALSE(rules.is_control(""));
}

TEST_CASE("where something leaves it, a place that sounds like a drop is a place") {
  const Derived both(
      "D in--a.discarded len:rnti:sn D in--b.retxdrop len:rnti:sn D a.discarded--out ::rnti.sn");
  CHECK_FALSE(both.point("in--a.discarded").drop);
  CHECK(both.point("in--b.retxdrop").drop);
}

TEST_CASE("a key that names a buffer or a process has one unit at a time") {
  const Derived uplink(R"(
    U mac--rlc len::fm.lcid.MRbuf
    U rlc--pdcp len::MRbuf.sn.so
    U retx--phy ::fmrtx.hqpid.hqround
    U phy--dec ::fm.hqpid.hqround
    D mux--tx len:rnti:lcid.fm.harq
    D tx--ant len:rnti:fm.harq
  )");
  CHECK(uplink.pair("mac--rlc", "rlc--pdcp").has_one_live_unit());
  CHECK_FALSE(uplink.pair("mac--rlc", "rlc--pdcp").gathers());
  CHECK(uplink.pair("retx--phy", "phy--dec").has_one_live_unit());
  // With the frame it is a block of which several parts are made.
  CHECK(uplink.pair("mux--tx", "tx--ant").gathers());
}

TEST_CASE("an address is its unit's also after that has left, where its end is told") {
  const Derived uplink(R"(
    U phy--mac life-bb:rnti:slot.harq.bb
    U mac--rlc life-sdu::bb.sdu
    U rlc--pdcp life-bb::sdu.bb
    D a--b ::bb
    D b--c ::bb.sn
  )");
  CHECK(uplink.pair("phy--mac", "mac--rlc").key_outlasts_unit);
  CHECK(uplink.pair("phy--mac", "mac--rlc").has_one_live_unit());
  CHECK_FALSE(uplink.pair("phy--mac", "mac--rlc").gathers());
  // The parent has to be where it begins.
  CHECK_FALSE(uplink.pair("mac--rlc", "rlc--pdcp").key_outlasts_unit);
  CHECK_FALSE(uplink.pair("a--b", "b--c").key_outlasts_unit);
}

TEST_CASE("a loop that nothing feeds is found, and one that is fed is none") {
  const Derived loops(R"(
    U start--end ::fm.hqpid
    U end--dec ::fm.hqpid
    U dec--again ::fm.hqpid
    U again--start ::hqpid
    U dec--out ::fm.hqpid
    D in--a ::sn
    D a--b ::sn
    D b--a ::sn
    D b--out ::sn
  )");
  const auto loop = loops.point("start--end").loop;
  CHECK(loop != 0);
  for (const auto* point : {"end--dec", "dec--again", "again--start"})
    CHECK(loops.point(point).loop == loop);
  CHECK(loops.point("dec--out").loop == 0);
  CHECK(loops.point("a--b").loop == 0);
  CHECK(loops.point("b--a").loop == 0);
  CHECK(loops.point("start--end").rank < loops.point("end--dec").rank);
  CHECK(loops.point("end--dec").rank < loops.point("dec--out").rank);
}

TEST_CASE("a part of a name does not close a loop that nothing would come out of") {
  SECTION("the dest is a part of the source") {
    const Derived line(R"(
      D in--phy.out.proc len:rnti:slot
      D phy.out.proc--phy.mod len:rnti:slot
      D phy.mod--phy.out len:rnti:slot
    )");
    CHECK(line.point("in--phy.out.proc").input);
    CHECK(line.point("phy.mod--phy.out").output);
    CHECK(line.point("phy.out.proc--phy.mod").pairs.size() == 1);
  }
  SECTION("the source is a part of the dest, and nothing feeds the loop") {
    const Derived line(R"(
      D pdcp--rlc len:rnti:sn
      D rlc--mac len:rnti:sn
      D mac--pdcp.out len:rnti:sn
    )");
    CHECK(line.point("pdcp--rlc").input);
    CHECK(line.point("mac--pdcp.out").output);
    CHECK(line.topology.loops == 0);
  }
  SECTION("something else comes out, or units only end in it") {
    constexpr auto kLoop = R"(
      D in--phy.out.proc len:rnti:slot
      D phy.out.proc--phy.mod len:rnti:slot
      D phy.mod--phy.out len:rnti:slot
    )";
    const Derived open(fmt::format("{} D phy.mod--ant len:rnti:slot", kLoop));
    CHECK_FALSE(open.point("phy.mod--phy.out").output);
    CHECK(open.point("phy.out.proc--phy.mod").pairs.size() == 2);
    const Derived drops(fmt::format("{} D phy.mod--phy.drop len:rnti:slot", kLoop));
    CHECK(drops.point("phy.mod--phy.out").output);
  }
  SECTION("the names are the same, or units enter from outside by the part as well") {
    const Derived fed(R"(
      D in--phy.out len:rnti:slot
      D phy.out.proc--phy.mod len:rnti:slot
      D phy.mod--phy.out len:rnti:slot
    )");
    CHECK_FALSE(fed.point("phy.mod--phy.out").output);
    const Derived round("D in--a len:rnti:sn\n D a--b len:rnti:sn\n D b--a len:rnti:sn");
    CHECK_FALSE(round.point("b--a").output);
  }
}

TEST_CASE("directions do not touch") {
  const Derived both("D in--a len:rnti:sn U a--out len:rnti:sn");
  CHECK(both.topology.pairs.empty());
}

TEST_CASE("a schema in which everything touches everything is refused") {
  model::Schema schema;
  schema.points.assign(400, *model::parse_point("D a--a", "len:rnti:sn"));
  const auto topology = Topology::derive(schema, Rules{});
  REQUIRE_FALSE(topology);
  CHECK(topology.error().text().find("pairs of points") != std::string::npos);
}

TEST_CASE("a dest without a reader continues at the exit of the place around it") {
  const Derived radio(R"(
    D ip.in--pdcp.in.gtp len:rnti:drb.gsn
    D pdcp.in--pdcp.tx len:rnti:drb.gsn.psn
    D pdcp.tx--rlc.tx.am len:rnti:drb.psn
    D rlc.tx.am--phy len:rnti:drb.psn
    D rlc.tx--phy len:rnti:drb.psn
    D phy--phy.ant len:rnti
  )");
  CHECK(radio.point("ip.in--pdcp.in.gtp").input);
  CHECK_FALSE(radio.point("pdcp.in--pdcp.tx").input);
  CHECK(radio.pair("ip.in--pdcp.in.gtp", "pdcp.in--pdcp.tx").key ==
        std::vector<std::string>{"drb", "gsn", "rnti"});
  // It has a reader of its own.
  CHECK(radio.point("rlc.tx--phy").pairs.empty());
  // A unit that leaves for a part of its place does not come back.
  CHECK(radio.point("phy--phy.ant").output);
  CHECK(radio.point("phy--phy.ant").pairs.size() == 2);
}

TEST_CASE("of fields that tell of a round the one that says most counts") {
  const Derived radio(R"(
    U a--b rv.new_data:rnti:harq
    U b--c rv.new_data.round:rnti:harq
    U c--d rv:rnti:harq
    U d--e len:rnti:harq
  )");
  const auto told = [&](std::string_view name) {
    const auto& harq = radio.point(name).harq;
    return std::pair(int{harq.round.value_or(9)}, harq.round_field);
  };
  CHECK(told("a--b") == std::pair(1, RoundField::kNewData));
  CHECK(told("b--c") == std::pair(2, RoundField::kNumber));
  CHECK(told("c--d") == std::pair(0, RoundField::kVersion));
  CHECK_FALSE(radio.point("d--e").harq.round);
}

TEST_CASE("fields of one name are alternatives of the key") {
  Derived radio("U rlc--pdcp len:rnti:psn.other U pdcp--out len:rnti:psn");
  radio.schema.points[0].fields[3].name = "psn";
  radio.topology = *Topology::derive(radio.schema, Rules{});
  const auto& inserts = radio.point("rlc--pdcp").inserts;
  REQUIRE(inserts.size() == 2);
  CHECK(inserts[0].table == inserts[1].table);
  CHECK(inserts[0].fields == FieldIndexes{2, 1});
  CHECK(inserts[1].fields == FieldIndexes{3, 1});
  CHECK(radio.point("pdcp--out").lookups.size() == 1);
}

TEST_CASE("a block of a process is taken apart, and parts with a bearer are put into one") {
  const Derived radio(R"(
    U dec--demux len::fm.hqpid.hqround.mcs
    U demux--rlc len::fm.hqpid.lcid.MRbuf
    U demux--ce ::fm.hqpid.lcid
    D seg--mux len::fm.lcid.hqpid
    D mux--tx len::fm.hqpid.tbs
  )");
  CHECK_FALSE(radio.pair("dec--demux", "demux--rlc").gathers());
  CHECK(radio.pair("dec--demux", "demux--rlc").unpacks_block());
  CHECK(radio.pair("dec--demux", "demux--rlc").child_from_block());
  CHECK_FALSE(radio.pair("dec--demux", "demux--ce").gathers());
  CHECK_FALSE(radio.pair("dec--demux", "demux--ce").unpacks_block());
  CHECK(radio.pair("seg--mux", "mux--tx").gathers());
}

TEST_CASE("a direction's being sent or received is derived from its cuts and reassemblies") {
  using enum Anchor;
  const auto anchors = [](std::string_view points) {
    const Derived derived(points);
    return std::pair(derived.topology.downlink, derived.topology.uplink);
  };
  const auto base_station = std::pair(kInput, kOutput);
  const auto terminal = std::pair(kOutput, kInput);
  CHECK(anchors(radio_points()) == base_station);
  CHECK(anchors("D a--b ::sn U c--d ::sn D b--e ::sn U d--f ::sn") == base_station);
  // By offsets.
  CHECK(
      anchors("U ip--rlc len::sn U rlc--mac len::sn.so D mac--rlc len::sn.so D rlc--ip len::sn") ==
      terminal);
  // By blocks.
  CHECK(anchors("U rlc--mux ::sn.fm.harq U mux--out ::fm.harq D in--demux ::fm.harq "
                "D demux--rlc ::fm.harq.sn") == terminal);
  CHECK(anchors("U rlc--mux ::lcid.fm.harq U mux--out ::fm.harq D in--demux ::fm.harq "
                "D demux--rlc ::fm.harq.lcid") == terminal);
  // Both: a relay.
  CHECK(anchors("U in--rlc ::sn.so U rlc--pdcp ::sn U pdcp--tx ::sn.so") == base_station);
}

TEST_CASE("a terminal and a base station in one trace each send and receive for themselves") {
  const Derived both(R"(
    U ue.ip--ue.rlc len::sn
    U ue.rlc--ue.mac len::sn.so
    U mac--rlc len::sn.so
    U rlc--ip len::sn
    U ip--ip.out len::sn
  )");
  const auto& points = both.topology.points;
  for (std::size_t i = 0; i < points.size(); ++i) CHECK(points[i].anchored_at_input == (i < 2));
}

TEST_CASE("a terminal and a base station in one trace both have whole packets") {
  World world(R"(
    U ue.ip--ue.rlc len::sn
    U ue.rlc--ue.mac len::sn.so
    U mac--rlc len::sn.so
    U rlc--ip len::sn
  )");
  world.events(R"(
    100 U ue.ip--ue.rlc 500 7
    110 U ue.rlc--ue.mac 300 7 0
    120 U mac--rlc 300 7 0
    130 U ue.rlc--ue.mac 200 7 300
    140 U mac--rlc 200 7 300
    150 U rlc--ip 500 7
  )");
  CHECK(world.journeys() ==
        std::vector<std::string>{
            "U complete 120..150: mac--rlc@120 mac--rlc@140 rlc--ip@150<0,1*",
            "U complete 100..130: ue.ip--ue.rlc@100 ue.rlc--ue.mac@110<0 ue.rlc--ue.mac@130<0*"});
  CHECK(world.seen()[0].journey.own_step == 2);
  CHECK(world.seen()[1].journey.own_step == 0);
}

TEST_CASE("a direction can be divided by global ids that all its keys have") {
  const Derived radio(radio_points());
  CHECK(radio.topology.is_divisible(model::Direction::kDownlink));
  CHECK(radio.topology.is_divisible(model::Direction::kUplink));

  const Derived two(R"(
    D in--a len:rnti.cell:sn
    D a--b len:cell.rnti:sn
    U in--a len:rnti:sn
    U a--b len::sn
  )");
  CHECK(two.point("in--a").owner_ids == FieldIndexes{2, 1});
  CHECK(two.topology.points[1].owner_ids == FieldIndexes{1, 2});
  // A packet of the uplink may be any UE's once it is in b.
  CHECK_FALSE(two.topology.is_divisible(model::Direction::kUplink));
  CHECK(two.topology.points[2].owner_ids == FieldIndexes{});

  // An id that may have two values leads from one to the other.
  const Derived roams(R"(
    D in--a len:rnti.rnti:sn
    D a--b len:rnti:sn
  )");
  CHECK_FALSE(roams.topology.is_divisible(model::Direction::kDownlink));
}

TEST_CASE("a pair that is stated to go by other ids than the owner's makes a direction one") {
  model::Schema schema;
  schema.points.push_back(*model::parse_point("D in--a", "len:rnti:sn"));
  schema.points.push_back(*model::parse_point("D a--b", "len:rnti:sn"));
  const auto rules = *parse_rules("pair D in--a -> a--b by sn", "my.rules");
  CHECK(Topology::derive(schema, {})->is_divisible(model::Direction::kDownlink));
  CHECK_FALSE(Topology::derive(schema, rules)->is_divisible(model::Direction::kDownlink));
}

TEST_CASE("the anchor that rules state counts, whatever the ids suggest") {
  model::Schema schema;
  schema.points.push_back(*model::parse_point("U ip--rlc", "len::sn"));
  schema.points.push_back(*model::parse_point("U rlc--mac", "len::sn.so"));
  Rules rules;
  rules.uplink = Anchor::kOutput;
  const auto topology = *Topology::derive(schema, rules);
  CHECK(topology.uplink == Anchor::kOutput);
  CHECK_FALSE(topology.points[0].anchored_at_input);
}

}  // namespace
}  // namespace sojourn::journeys
