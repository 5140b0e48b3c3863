// Rules as a text: the printed text reads back as the same rules, statements take effect, and
// errors have their place.
#include "analysis/journeys/rule_file.h"

#include <algorithm>
#include <fstream>
#include <sstream>

#include <catch2/catch_test_macros.hpp>

#include "tests/support/pointed_error.h"
#include "tests/unit/journeys/world.h"

namespace sojourn::journeys {
namespace {

using Lines = std::vector<std::string>;

model::Schema schema_of(std::string_view points) {
  model::Schema schema;
  std::istringstream words{std::string(points)};
  std::string direction;
  std::string where;
  std::string fields;
  while (words >> direction >> where >> fields)
    schema.points.push_back(*model::parse_point(direction + " " + where, fields));
  return schema;
}

Rules rules_of(std::string_view text) {
  auto rules = parse_rules(text, "my.rules");
  if (!rules) FAIL(rules.error().text());
  return std::move(*rules);
}

Topology topology_of(const model::Schema& schema, const Rules& rules) {
  auto topology = Topology::derive(schema, rules);
  if (!topology) FAIL(topology.error().text());
  return std::move(*topology);
}

std::string printed(const model::Schema& schema, const Rules& rules) {
  return rules_text(topology_of(schema, rules), schema, rules);
}

std::string error_of(std::string_view text) {
  const auto rules = parse_rules(text, "my.rules");
  REQUIRE_FALSE(rules);
  return test::first_line_of_pointed(rules.error().text());
}

// The error of deriving a topology from a text that parses.
std::string derive_error(std::string_view points, std::string_view text) {
  const auto topology = Topology::derive(schema_of(points), rules_of(text));
  REQUIRE_FALSE(topology);
  return topology.error().text();
}

constexpr std::string_view kLine = R"(
  D in--a len:rnti:sn
  D a--b len:rnti:sn.drb
  D b--out len:rnti:sn
)";

TEST_CASE("a direction that is sent in one part and received in another is not printed as either") {
  const auto schema =
      schema_of("U a--b len::sn U b--c len::sn.so U mac--rlc len::sn.so U rlc--ip len::sn");
  const auto text = printed(schema, {});
  CHECK(text.find("journey D enters\n# U has both, each in a part of its own.\n\n") !=
        std::string::npos);
  const auto again = rules_of(text);
  CHECK_FALSE(again.uplink);
  CHECK(printed(schema, again) == text);
}

TEST_CASE("the rules in force are printed in the form in which they are read") {
  CHECK(printed(schema_of("D in--a len:rnti:sn D a--out len:rnti:sn I a.occ occ:"), {}) ==
        R"(# One journey is one packet that enters, or one that leaves.
journey D enters
journey U leaves
# D: packets that differ in rnti never meet.

# Fields and places with a meaning.
word length     len
word offset     so
word round      "round hqround rv rvidx rv_idx rv_index new_data"
word process    "harq hqpid hpid harqid harq_id harq_pid"
word sequence   sn
word buffer     "buf ptr addr bb"
word broadcast  rnti
word drop       drop
word ack        ack
word control    ctrl

# How long a unit is waited for, and how many are kept.
expiry  10s
linger  1s
settle  100ms
late    20us
units   4000000

# Where units come in, leave, and end.
point D in--a   input
point D a--out  output

# Which point feeds which.
pair D in--a  -> a--out  by rnti.sn  1:1
)");
}

TEST_CASE("what is printed reads back as the same") {
  for (const std::string_view points : {radio_points(), kLine,
                                        // One name with other fields, a comment's sign, braces, a
                                        // control unit that is dropped, no ids in common.
                                        std::string_view(R"(
          D in--a len:rnti:sn
          D a--b len:rnti:sn.drb
          D a--b len:rnti:drb
          D #b--c len:rnti:sn
          D c--d{x} len:rnti:sn
          D d{x}--out len:lcid:
          D "q"--"r"" len:rnti:sn
          U ctrl--drop len:rnti:sn
          U a--b ::sn.sn
        )"),
                                        // SDUs that are numbered as they are cut, with and without
                                        // lengths.
                                        std::string_view(R"(
          D in--a len:rnti:psn
          D a--b len:rnti:sn.so
          D in--c :rnti:psn
          D c--d :rnti:sn.so
        )"),
                                        // An address that is its unit's until it is told to end.
                                        std::string_view(R"(
          U phy--mac life-bb:rnti:slot.harq.bb
          U mac--rlc ::bb.call-rlc
        )")}) {
    const auto schema = schema_of(points);
    const std::string text = printed(schema, {});
    CAPTURE(text);
    const Rules again = rules_of(text);
    CHECK(topology_of(schema, again).unmatched_rules.empty());
    CHECK(printed(schema, again) == text);
    const auto derived = topology_of(schema, {});
    const auto read = topology_of(schema, again);
    REQUIRE(read.pairs.size() == derived.pairs.size());
    for (std::size_t i = 0; i < read.pairs.size(); ++i) {
      CHECK(read.pairs[i].numbered_by_segments == derived.pairs[i].numbered_by_segments);
      CHECK(read.pairs[i].key_outlasts_unit == derived.pairs[i].key_outlasts_unit);
      CHECK(read.pairs[i].live_units == derived.pairs[i].live_units);
    }
  }
}

TEST_CASE("that an address is left with its unit can be stated") {
  const auto schema = schema_of("U phy--mac life-bb:rnti:slot.harq.bb U mac--rlc ::bb.call-rlc");
  CHECK(printed(schema, {}).contains("U phy--mac -> mac--rlc  by bb  1:n  lengths unused\n"));
  const Rules one = rules_of("pair U phy--mac -> mac--rlc 1:1\n");
  CHECK(printed(schema, one).contains("U phy--mac -> mac--rlc  by bb  1:1\n"));
  CHECK(topology_of(schema, one).pairs[0].has_one_live_unit());
}

TEST_CASE("an own rule is printed as well") {
  const auto schema = schema_of(kLine);
  const Rules rules = rules_of(
      "expiry 2s\n"
      "word sequence \"\"\n"
      "word drop \"#a \"\"b\"\n"
      "pair D in--a -> a--b  by rnti expiry 1500us\n");
  const std::string text = printed(schema, rules);
  CHECK(text.contains("expiry  2s\n"));
  CHECK(text.contains("word sequence   \"\"\n"));
  CHECK(text.contains("word drop       \"#a \"\"b\"\n"));
  CHECK(text.contains("pair D in--a  -> a--b    by rnti  n:1  lengths unused  expiry 1500us\n"));
  CHECK(printed(schema, rules_of(text)) == text);
}

TEST_CASE("inputs and outputs can be stated") {
  const auto schema = schema_of(kLine);
  const auto topology =
      topology_of(schema, rules_of("point D a--b input\npoint D in--a output # until here\n"));
  CHECK(topology.points[0].output);
  CHECK(topology.points[1].input);
  CHECK(topology.points[1].pairs.empty());
  CHECK(topology.points[2].pairs.size() == 1);
  const auto inner = topology_of(schema, rules_of("point D in--a inner\npoint D b--out drop\n"));
  CHECK_FALSE(inner.points[0].input);
  CHECK(inner.points[2].drop);
  CHECK_FALSE(inner.points[2].output);
}

TEST_CASE("ids that join a pair, and pairs that no name joins, can be stated") {
  World world(R"(
    D in--a len:rnti:sn
    D elsewhere--out len:crnti:sn
  )");
  world.rules = rules_of("pair D in--a -> elsewhere--out by sn\n");
  world.events(R"(
    100 D in--a 1000 1 7
    110 D in--a 1000 1 8
    120 D elsewhere--out 1000 9 7
  )");
  CHECK(world.journeys() == Lines{"D complete 100..120: in--a@100 elsewhere--out@120<0*",
                                  "D censored 110..110: in--a@110"});
}

TEST_CASE("a drop whose ids are its own is tied to its unit by those that are stated") {
  for (const bool stated : {true, false}) {
    World world(R"(
      U ant--phy len.round:rnti:harq.slot
      U phy--demux len:rnti:harq.slot
      U phy--drop len:rnti:slot
      U demux--rlc len:rnti:sn.slot
      U rlc--drop len:rnti:sn.slot
      U rlc--out len:rnti:sn
    )");
    if (stated)
      world.rules = rules_of(R"(
        pair U ant--phy -> phy--drop   by rnti     1:1
        pair U demux--rlc -> rlc--drop by rnti.sn  1:1
      )");
    world.events(R"(
      100000 U ant--phy 700 0 1 0 10
      110000 U phy--demux 700 1 0 10
      111000 U demux--rlc 700 1 5 10
      150000 U rlc--drop 700 1 5 14
      200000 U ant--phy 700 0 1 1 18
      250000 U phy--drop 700 1 22
    )");
    const auto journeys = world.journeys();
    if (stated)
      CHECK(journeys == Lines{"U dropped 100000..150000: ant--phy@100000 phy--demux@110000<0 "
                              "demux--rlc@111000<1 rlc--drop@150000<2",
                              "U dropped 200000..250000: ant--phy@200000 phy--drop@250000<0"});
    else
      CHECK(journeys.size() == 4);
  }
}

TEST_CASE("a pair that is stated never to touch does not") {
  const auto schema = schema_of(kLine);
  const auto topology = topology_of(schema, rules_of("pair D a--b -> b--out never\n"));
  CHECK(topology.points[2].pairs.empty());
  CHECK(topology.points[2].input);
  CHECK(topology.points[1].output);
}

TEST_CASE("points that never touch are not matched by their places and ids") {
  World world(R"(
    D in--a len:rnti:sn
    D x--a len:rnti:sn
    D a--out len:rnti:sn
    D a--else len:rnti:sn
  )");
  world.rules = rules_of("pair D in--a -> a--else never\n");
  world.events(R"(
    100 D x--a 1000 1 7
    110 D in--a 1000 1 7
    120 D a--else 1000 1 7
    130 D a--out 1000 1 7
  )");
  CHECK(world.journeys() == Lines{"D complete 100..120: x--a@100 a--else@120<0*",
                                  "D complete 110..130: in--a@110 a--out@130<0*"});
}

TEST_CASE("ids that are stated for one pair are not another's") {
  World world(R"(
    D in--a len:rnti:sn
    D x--a len:rnti:sn
    D a--out len:rnti:sn
  )");
  world.rules = rules_of("pair D x--a -> a--out by rnti 1:1\n");
  world.events(R"(
    100 D x--a 1000 1 7
    110 D in--a 1000 1 8
    120 D a--out 1000 1 9
  )");
  CHECK(world.journeys() ==
        Lines{"D complete 100..120: x--a@100 a--out@120<0*", "D censored 110..110: in--a@110"});
}

TEST_CASE("units without an id find no unit by fewer ids than they share") {
  // a--out and x--a share rnti only; in--a and a--out both.
  World world(R"(
    D in--a len:rnti:sn
    D x--a len:rnti
    D a--out len:rnti:sn
    D a--else len:rnti
  )");
  world.events(R"(
    100 D x--a 1000 1
    110 D in--a 1000 1 8
    120 D a--out 1000 1 9
  )");
  const auto journeys = world.journeys();
  CHECK(std::ranges::find(journeys, "D complete 110..120: in--a@110 a--out@120<0*") ==
        journeys.end());
}

TEST_CASE("the cardinality of a pair can be stated") {
  World world(R"(
    D in--a len:rnti:sn
    D a--out len:rnti
  )");
  world.rules = rules_of("pair D in--a -> a--out 1:1\n");
  world.events(R"(
    100 D in--a 1000 1 7
    110 D in--a 1000 1 8
    120 D a--out 1000 1
    130 D a--out 1000 1
  )");
  // The nearest one each; without the rule the first block takes both.
  CHECK(world.journeys() == Lines{"D complete 110..120: in--a@110 a--out@120<0*",
                                  "D complete 100..130: in--a@100 a--out@130<0*"});
}

TEST_CASE("lengths that are not to be compared are not") {
  const auto schema = schema_of("D in--a len:rnti:sn D a--b len:rnti:sn.so");
  CHECK(topology_of(schema, {}).pairs[0].cuts());
  CHECK_FALSE(topology_of(schema, rules_of("pair D in--a -> a--b lengths unused")).pairs[0].cuts());
}

TEST_CASE("lengths are compared if both points have them and no rule says otherwise") {
  const auto schema = schema_of(R"(
    D in--a len:rnti:sn D a--b len:rnti:sn.so
    D in--c len:rnti:sn.so D c--d len:rnti:sn
    D in--e :rnti:sn D e--f len:rnti:sn.so
  )");
  for (const char* cardinality : {"1:n", "n:m"}) {
    CAPTURE(cardinality);
    const auto pair = [&](const std::string& points, const std::string& more = "") {
      return topology_of(schema, rules_of("pair D " + points + " " + cardinality + more)).pairs;
    };
    CHECK(pair("in--a -> a--b")[0].cuts());
    CHECK_FALSE(pair("in--a -> a--b", " lengths unused")[0].cuts());
    for (const auto& [points, index] : {std::pair("in--c -> c--d", 1), {"in--e -> e--f", 2}}) {
      CAPTURE(points);
      const Pair made = pair(points)[index];
      CHECK_FALSE(made.cuts());
      CHECK_FALSE(made.reassembles());
      CHECK(made.gathers() == (std::string_view(cardinality) == "n:m"));
    }
  }
}

TEST_CASE("that pieces are not numbered in the order of arrival can be stated") {
  const auto schema = schema_of("D in--a len:rnti:lcid.psn D a--out len:rnti:lcid.sn.so");
  CHECK(topology_of(schema, {}).pairs[0].numbered_by_segments);
  const auto joined = topology_of(schema, rules_of("pair D in--a -> a--out n:1")).pairs[0];
  CHECK_FALSE(joined.numbered_by_segments);
  CHECK(joined.gathers());
}

TEST_CASE("a unit that waited longer than its pair allows is not taken") {
  World world(R"(
    D in--a len:rnti:sn
    D a--out len:rnti:sn
  )");
  world.rules = rules_of("pair D in--a -> a--out expiry 50ns\n");
  world.events(R"(
    1000 D in--a 1000 1 7
    1040 D in--a 1000 1 8
    1060 D a--out 1000 1 7
    1090 D a--out 1000 1 8
  )");
  const auto journeys = world.journeys();
  CHECK(world.at("D a--out").events == 2);
  CHECK(std::ranges::find(journeys, "D complete 1040..1090: in--a@1040 a--out@1090<0*") !=
        journeys.end());
  for (const auto& journey : journeys) CHECK_FALSE(journey.starts_with("D complete 1000"));
}

TEST_CASE("a unit that waited too long is no alternative") {
  World world(R"(
    D in--a len:rnti:sn
    D a--out len:rnti:sn
  )");
  world.rules = rules_of("pair D in--a -> a--out expiry 50ns\n");
  world.events(R"(
    1000 D in--a 1000 1 7
    1200 t2 D in--a 1000 1 7
    1240 t3 D a--out 1000 1 7
  )");
  REQUIRE(!world.journeys().empty());
  CHECK(world.at("D a--out").ambiguous == 0);
}

TEST_CASE("how late a HARQ round may still repeat can be stated") {
  for (const auto* linger : {"", "linger 3s\n"}) {
    World world(R"(
      D in--mux len:rnti:sn
      D mux--harq len:rnti:sn.harq
      D harq--phy len.round:rnti:harq
      D phy--ant len:rnti:harq
    )");
    world.rules = rules_of(linger);
    world.events(R"(
      100 D in--mux 300 1 7
      110 D mux--harq 300 1 7 0
      120 D harq--phy 300 0 1 0
      130 D phy--ant 300 1 0
    )");
    // Time goes on.
    for (const auto* at : {"500", "1000", "1500", "2000"})
      world.events(std::string(at) + "000000 D in--mux 300 2 " + at + "\n");
    world.events(R"(
      2500000000 D harq--phy 300 1 1 0
      2500000010 D phy--ant 300 1 0
    )");
    const auto journeys = world.journeys();
    const std::string first =
        "D complete 100..130: in--mux@100 mux--harq@110<0 harq--phy@120<1 phy--ant@130<2*";
    const std::string second = " harq--phy@2500000000<1=2 phy--ant@2500000010<4";
    CHECK(journeys.front() == (*linger == 0 ? first : first + second));
  }
}

TEST_CASE("a rule for a point that is not there is told and left out") {
  const auto schema = schema_of(kLine);
  const auto topology = topology_of(
      schema,
      rules_of("point D in--z input\n\npair U in--a -> a--b 1:1\npoint D a--b{len} inner\n"));
  CHECK(topology.unmatched_rules == Lines{"my.rules:1:9: there is no point D in--z",
                                          "my.rules:4:9: there is no point D a--b with len",
                                          "my.rules:3:8: there is no point U in--a",
                                          "my.rules:3:8: there is no point U a--b"});
  CHECK(topology.pairs.size() == 2);
}

TEST_CASE("what is wrong with a text is told with its place") {
  CHECK(
      error_of("\n  jurney D enters\n") ==
      "my.rules:2:3: expected \"journey\", \"word\", \"expiry\", \"linger\", \"settle\", \"late\", "
      "\"units\", \"point\" or \"pair\", found \"jurney\"");
  CHECK(error_of("journey X enters") == "my.rules:1:9: expected \"D\" or \"U\", found \"X\"");
  CHECK(error_of("journey D") ==
        "my.rules:1:10: expected \"enters\" or \"leaves\", found the end of the line");
  CHECK(error_of("word legnth len").starts_with("my.rules:1:6: expected one of \"length\", "));
  CHECK(error_of("expiry ten") == "my.rules:1:8: \"ten\" is not a time such as 10s, 500ms or 2min");
  CHECK(error_of("expiry 10") == "my.rules:1:8: \"10\": a time wants a unit: 10s, 10ms, 10us");
  CHECK(error_of("expiry 0s") == "my.rules:1:8: \"0s\": a time above 0 is wanted");
  CHECK(error_of("pair D a--b -> b--c expiry 0ms").contains("\"0ms\": a time above 0 is wanted"));
  CHECK(error_of("expiry 99999999999999999999s").contains("is too long"));
  CHECK(error_of("expiry 10s 20s") == "my.rules:1:12: expected the end of the line, found \"20s\"");
  CHECK(error_of("units many").starts_with("my.rules:1:7: \"many\" is not a number of units"));
  CHECK(error_of("point D in-a input") ==
        "my.rules:1:9: \"in-a\" is not a point such as ip.in--pdcp.in");
  CHECK(error_of("point D in--a{len:rnti input") ==
        "my.rules:1:9: \"in--a{len:rnti\" has no \"}\" at its end: fields stand in {...}, without "
        "blanks");
  CHECK(error_of("pair D a--b -> b--c{len: rnti} 1:1").starts_with("my.rules:1:16: \"b--c{len:\""));
  CHECK(error_of("point D in--a exit").starts_with("my.rules:1:15: expected \"input\""));
  CHECK(error_of("pair D a--b c--d").starts_with("my.rules:1:13: expected \"->\""));
  CHECK(error_of("pair D a--b -> b--c").starts_with("my.rules:1:20: expected \"never\""));
  CHECK(error_of("pair D a--b -> b--c by rnti 2:2").starts_with("my.rules:1:29: expected"));
  CHECK(error_of("pair D a--b -> b--c by rnti..sn")
            .starts_with("my.rules:1:24: ids are divided by single dots"));
  CHECK(error_of("pair D a--b -> b--c lengths") ==
        "my.rules:1:28: expected \"compared\" or \"unused\", found the end of the line");
  CHECK(error_of("word drop \"dr") == "my.rules:1:11: a \" without its end");
  CHECK(error_of(std::string("\x7f\x01\x00", 3)).starts_with("my.rules:1:1: an unprintable"));
  CHECK(error_of("point D in--\x1b[31m input") ==
        "my.rules:1:13: an unprintable character in \"in--?[31m\": names have none");
  CHECK(error_of("word drop \"dr\top\"").starts_with("my.rules:1:14: an unprintable"));
}

TEST_CASE("a rule for too many pairs of points is refused") {
  std::string points;
  for (int i = 0; i < 400; ++i) points += "D a--b len:rnti:sn\n";
  CHECK(derive_error(points, "pair D a--b -> a--b never") ==
        "my.rules:1:8: with this rule there are more than 100000 pairs of points");
}

TEST_CASE("a rule that does not fit the points is reported with its place") {
  CHECK(derive_error(kLine, "pair D in--a -> a--b by rnti.psn") ==
        "my.rules:1:8: in--a -> a--b: D in--a has no id psn");
  CHECK(derive_error(kLine, "pair D in--a -> a--b by drb").ends_with("D in--a has no id drb"));
  CHECK(derive_error(kLine, "pair D in--a -> a--b 1:n lengths compared")
            .ends_with("lengths can be compared where both have len, and the piece has so"));
  CHECK(derive_error(kLine, "pair D in--a -> a--b 1:1 lengths compared")
            .contains("no lengths to compare"));
  CHECK(derive_error(kLine, "pair D in--a -> a--b expiry 11s")
            .ends_with("nothing is kept longer than the general expiry"));
  CHECK(derive_error(kLine, "point D in--a output\npair D in--a -> a--b 1:1")
            .starts_with("my.rules:2:8: in--a -> a--b: in--a is stated to be an output"));
  CHECK(derive_error(kLine, "point D in--a drop\npair D in--a -> a--b 1:1")
            .ends_with("units end at in--a"));
  CHECK(derive_error(kLine, "point D a--b input\npair D in--a -> a--b 1:1")
            .contains("a--b is stated to be an input"));
}

TEST_CASE("the documentation's rules can be read") {
  std::ifstream file(SJ_DOCS "/journeys.md");
  REQUIRE(file);
  bool in_section = false;
  bool in_block = false;
  std::size_t blocks = 0;
  std::string text;
  for (std::string line; std::getline(file, line);) {
    if (line.starts_with("## ")) in_section = line == "## The rule file";
    if (!in_section) continue;
    if (line != "```") {
      if (in_block) text += line + "\n";
      continue;
    }
    if (in_block) {
      CAPTURE(text);
      const auto rules = parse_rules(text, "journeys.md");
      if (!rules) FAIL(rules.error().text());
      CHECK_FALSE(rules->pairs.empty());
      // The first is of these points, and all of it applies to them.
      if (blocks == 0)
        CHECK(topology_of(schema_of(radio_points()), *rules).unmatched_rules.empty());
      ++blocks;
      text.clear();
    }
    in_block = !in_block;
  }
  CHECK(blocks == 4);
}

}  // namespace
}  // namespace sojourn::journeys
