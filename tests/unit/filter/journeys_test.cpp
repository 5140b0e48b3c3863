// The meaning of expressions for whole journeys.
#include <catch2/catch_test_macros.hpp>

#include "analysis/filter/journey_filter.h"
#include "tests/unit/filter/support.h"

namespace sojourn::filter_tests {
namespace {

using journeys::Journey;
using journeys::Outcome;
using journeys::Step;

// ip.in -> rlc.tx.am -> two segments at mac, of which one was sent twice.
struct Packet {
  std::vector<std::uint64_t> first = {1400, 7};
  std::vector<std::uint64_t> second = {700, 7, 1};
  std::vector<std::uint64_t> third = {700, 8, 2};
  std::vector<std::uint32_t> parents = {0};
  std::vector<Step> steps = {{.ts_ns = 1'000,
                              .entered_ns = 1'000,
                              .tid = 11,
                              .stream = 0,
                              .point = 0,
                              .values = first,
                              .parents = {}},
                             {.ts_ns = 3'000,
                              .entered_ns = 3'000,
                              .tid = 12,
                              .stream = 1,
                              .point = 1,
                              .values = second,
                              .parents = parents},
                             {.ts_ns = 6'000,
                              .entered_ns = 6'000,
                              .tid = 12,
                              .stream = 1,
                              .point = 1,
                              .values = third,
                              .parents = parents}};
  Journey journey = {.id = 1,
                     .direction = model::Direction::kDownlink,
                     .outcome = Outcome::kComplete,
                     .start_ns = 1'000,
                     .end_ns = 6'000,
                     .segments = 2,
                     .retransmissions = 1,
                     .steps = steps};
};

bool holds(std::string_view expression, const Journey& journey) {
  CAPTURE(expression);
  filter::BindContext around;
  around.origin_ns = 500;
  around.streams = {{.id = 0, .cpu = 0}, {.id = 1, .cpu = 2}};
  around.threads = {{11, "gtp rx"}, {12, "mac"}, {13, "phy"}};
  const auto parsed = filter::parse(expression);
  if (!parsed) FAIL(parsed.error().text());
  const auto made = filter::JourneyFilter::compile(*parsed, radio(), around);
  if (!made) FAIL(made.error().text());
  return (*made)(journey);
}

TEST_CASE("an expression knows whether it needs a whole journey") {
  const auto about_journeys = [](const char* text) {
    return is_about_journeys(*filter::parse(text));
  };
  CHECK(about_journeys("latency > 5ms"));
  CHECK(about_journeys("dir == D && rnti == 7 && at(rlc.tx) > 1ms"));
  CHECK(about_journeys("!complete"));
  CHECK(about_journeys("rnti + segments > 3"));
  CHECK(about_journeys("event(point ~ mac.* && len > 100)"));
  CHECK_FALSE(about_journeys("dir == D && rnti == 7"));
  CHECK_FALSE(about_journeys("field(latency) > 5"));
  CHECK_FALSE(about_journeys("point ~ mac.* && time > 1s"));
}

TEST_CASE("a journey is asked for its own numbers") {
  const Packet packet;
  const Journey& journey = packet.journey;
  CHECK(holds("latency == 5us", journey));
  CHECK_FALSE(holds("latency > 5us", journey));
  CHECK(holds("segments == 2 && retransmissions == 1 && drops == 0 && events == 3", journey));
  CHECK(holds("complete && !dropped && !censored && !incomplete && !ambiguous", journey));
  CHECK(holds("dir == D && time == 500ns", journey));
  CHECK_FALSE(holds("dir == U", journey));
  CHECK(holds("latency / segments == 2500ns", journey));
}

TEST_CASE("the longest stay in a place counts, also in the places inside of it") {
  const Packet packet;
  CHECK(holds("at(rlc.tx.am) == 5us", packet.journey));
  CHECK(holds("at(rlc.tx) > 4us", packet.journey));
  CHECK(holds("at(rlc.*) > 4us", packet.journey));
  CHECK(holds("at(rlc.tx) * 2 > latency", packet.journey));
  CHECK_FALSE(holds("at(phy) < 1s", packet.journey));
  CHECK_FALSE(holds("!(at(phy) < 1s)", packet.journey));
}

TEST_CASE("a journey has what any of its events has; a negation must hold for all of them") {
  const Packet packet;
  const Journey& journey = packet.journey;
  CHECK(holds("rnti == 7", journey));
  CHECK(holds("rnti == 8", journey));
  CHECK_FALSE(holds("rnti != 7", journey));
  CHECK(holds("rnti != 9", journey));
  CHECK(holds("point ~ ip.*", journey));
  CHECK_FALSE(holds("point !~ ip.*", journey));
  CHECK(holds("hop == mac", journey));
  CHECK(holds("thread == 11 && thread == 12 && cpu == 0 && cpu == 2", journey));
  CHECK(holds("thread == 'gtp rx' && thread == mac", journey));
  CHECK(holds("thread in {phy, mac}", journey));
  CHECK(holds("thread != phy", journey));
  CHECK_FALSE(holds("thread == phy", journey));
  CHECK_FALSE(holds("thread !~ m*", journey));
  CHECK(holds("event(thread == mac && len < 1k)", journey));
  CHECK_FALSE(holds("event(thread == mac && len > 1k)", journey));
  CHECK_FALSE(holds("slot == 1", journey));
  CHECK_FALSE(holds("slot != 1", journey));
  CHECK(holds("has(sn) && !has(slot)", journey));
}

TEST_CASE("conditions inside of event() hold for one and the same event") {
  const Packet packet;
  CHECK(holds("len == 1400 && rnti == 8", packet.journey));
  CHECK_FALSE(holds("event(len == 1400 && rnti == 8)", packet.journey));
  CHECK(holds("event(len == 700 && rnti == 8 && cpu == 2)", packet.journey));
  CHECK_FALSE(holds("!event(len == 700 && rnti == 8)", packet.journey));
  CHECK(holds("event(time > 5us) && latency > 1us", packet.journey));
  CHECK(holds("len - rnti == 1393", packet.journey));
  CHECK_FALSE(holds("len - rnti == 1392", packet.journey));
}

}  // namespace
}  // namespace sojourn::filter_tests
