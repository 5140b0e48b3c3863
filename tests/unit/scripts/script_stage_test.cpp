// Events that pass a script.
#include "userspace/scripts/script_stage.h"

#include <catch2/catch_test_macros.hpp>
#include <fmt/format.h>

#include "tests/unit/scripts/support.h"

namespace sojourn::scripts::test {
namespace {

const Events kSome = {{.ts_ns = kOpenNs + 10, .seq = 0, .point = 0, .values = {100, 5}},
                      {.ts_ns = kOpenNs + 20, .seq = 1, .point = 0, .values = {200, 6}},
                      {.ts_ns = kOpenNs + 25, .seq = 0, .point = 4, .values = {1}, .stream = 9},
                      {.ts_ns = kOpenNs + 30, .seq = 2, .point = 1, .values = {100, 5, 77}},
                      {.ts_ns = kOpenNs + 40, .seq = 3, .point = 1, .values = {200, 6, 78}}};

TEST_CASE("a filter keeps events for which it is true, and the numbers of the others close up") {
  const Events kept = passed("filter(function(e) return e.rnti == 6 end)", kSome);
  REQUIRE(kept.size() == 3);
  CHECK(kept[0].values == std::vector<std::uint64_t>{200, 6});
  CHECK(kept[0].seq == 0);
  CHECK(kept[1].point == 4);  // the kernel's, which no filter without a pattern is asked about
  CHECK(kept[2].values == std::vector<std::uint64_t>{200, 6, 78});
  CHECK(kept[2].seq == 1);
}

TEST_CASE("numbers close up where events of a stream have traded places") {
  Events events;
  for (const std::uint64_t seq : {0U, 2U, 1U, 3U, 5U, 4U, 6U})
    events.push_back(
        {.ts_ns = kOpenNs + events.size(), .seq = seq, .point = 0, .values = {seq, 5}});
  // Keeps 0, 1, 3, 4, 6: numbers 0, 1, 2, 3, 4, each once.
  const Events kept = passed("filter(function(e) return e.len ~= 2 and e.len ~= 5 end)", events);
  std::vector<std::uint64_t> numbers;
  for (const Event& event : kept) numbers.push_back(event.seq);
  CHECK(numbers == std::vector<std::uint64_t>{0, 1, 2, 3, 4});
}

TEST_CASE("a filter with a pattern is asked about those points only") {
  CHECK(passed("filter('D b--c', function(e) return false end)", kSome).size() == 3);
  CHECK(passed("filter('K *', function(e) return false end)", kSome).size() == 4);
}

TEST_CASE("left-out events and made activities are counted") {
  const auto stage = begun(
      "local seen = marker('seen') "
      "filter(function(e) return e.rnti == 5 end) on(function() seen() end)");
  pass(*stage, kSome);
  CHECK(stage->seen() == 4);
  CHECK(stage->kept() == 2);
  REQUIRE(stage->made().size() == 1);
  CHECK(stage->made()[0] == 2);
}

TEST_CASE("a column is a field behind the others, and functions behind it see it") {
  const auto stage = begun(
      "column { name = 'odd', value = function(e) return e.rnti % 2 == 1 end, points = 'D *' }\n"
      "column { name = 'half', role = 'property', value = function(e) return e.len // 2 end,\n"
      "         points = 'D b--c' }\n"
      "local m = marker('m', { 'odd' }) on('D *', function(e) m(e.odd) end)");
  const model::Schema& behind = stage->schema();
  REQUIRE(behind.points.size() == 6);
  CHECK(behind.points[0].fields.back().name == "odd");
  CHECK(behind.points[0].fields.back().role == model::Role::kGlobal);
  CHECK(behind.points[1].fields[4].name == "half");
  CHECK(behind.points[1].fields[4].role == model::Role::kProperty);
  CHECK(behind.points[2].fields.size() == 1);
  const Events events = pass(*stage, kSome);
  REQUIRE(events.size() == 9);
  CHECK(events[0].values == std::vector<std::uint64_t>{100, 5, 1});
  CHECK(events[1].point == 5);
  CHECK(events[1].values == std::vector<std::uint64_t>{1});
  CHECK(events[5].values == std::vector<std::uint64_t>{100, 5, 77, 1, 50});
  CHECK(events[7].values == std::vector<std::uint64_t>{200, 6, 78, 0, 100});
}

TEST_CASE("an activity lies behind the event that ends it, on its thread") {
  const auto stage = begun(
      "local held, since = activity('held', { 'mutex', 'by' }), {}\n"
      "on('I mutex.lock', function(e) since[e.mutex] = e.t_ns end)\n"
      "on('I mutex.unlock', function(e) held(since[e.mutex], e.mutex, -e.tid) end)");
  const Events events =
      pass(*stage, {{.ts_ns = kOpenNs, .seq = 0, .point = 2, .values = {1}},
                    {.ts_ns = kOpenNs + 5, .seq = 1, .point = 2, .values = {2}, .tid = 8},
                    {.ts_ns = kOpenNs + 30, .seq = 2, .point = 3, .values = {1}},
                    {.ts_ns = kOpenNs + 50, .seq = 3, .point = 3, .values = {2}, .tid = 8}});
  REQUIRE(events.size() == 6);
  CHECK(events[3] == Event{.ts_ns = kOpenNs + 30,
                           .seq = 2,
                           .point = 5,
                           .values = {30, 1, static_cast<std::uint64_t>(-7)}});
  CHECK(events[5] == Event{.ts_ns = kOpenNs + 50,
                           .seq = 3,
                           .point = 5,
                           .values = {45, 2, static_cast<std::uint64_t>(-8)},
                           .tid = 8});
  const model::Point& point = stage->schema().points[5];
  CHECK(point.direction == model::Direction::kScript);
  CHECK(point.name() == "held");
  CHECK(point.fields[0].name == model::kDurationField);
  CHECK_FALSE(point.fields[0].is_signed);
  CHECK(point.fields[2].is_signed);
}

TEST_CASE("a script sees of an event what a line of `events` shows") {
  std::string said;
  const auto stage = begun(
      "on('D a--b', function(e) print(e.dir, e.point, e.src, e.dest, e.t_ns - open_ns, e.tid, "
      "e.stream, e.cpu, e.sn, e.len) end) print(known('sn'), known('nothing'), us, ms, sec)",
      [&](std::string_view text) { said += text; });
  pass(*stage, {{.ts_ns = kOpenNs + 10, .seq = 0, .point = 0, .values = {100, 5}},
                {.ts_ns = kOpenNs + 20, .seq = 0, .point = 0, .values = {1, 5}, .stream = 4000}});
  CHECK(said ==
        "true\tfalse\t1000\t1000000\t1000000000\n"
        "D\ta--b\ta\tb\t10\t7\t0\t3\tnil\t100\n"
        "D\ta--b\ta\tb\t20\t7\t4000\tnil\tnil\t1\n");
}

TEST_CASE("more events than go at once, and more activities than find room") {
  const auto stage = begun(
      "local m = marker('m', { 'a', 'b', 'c' })\n"
      "on('D a--b', function(e) for i = 1, 20 do m(i, e.len, 3) end end)");
  Events many;
  for (std::uint64_t at = 0; at < 10'000; ++at)
    many.push_back({.ts_ns = kOpenNs + at, .seq = at, .point = 0, .values = {at, 5}});
  const Events events = pass(*stage, many);
  REQUIRE(events.size() == many.size() * 21);
  for (std::size_t at = 0; at < many.size(); ++at) {
    REQUIRE(events[at * 21] == many[at]);
    for (std::uint64_t each = 1; each <= 20; ++each)
      REQUIRE(events[at * 21 + each].values == std::vector<std::uint64_t>{each, at, 3});
  }
  CHECK(stage->made()[0] == 200'000);
}

TEST_CASE("each pass begins with a script that was read anew") {
  const auto stage =
      begun("local count = 0 filter(function(e) count = count + 1 return count == 1 end)");
  for (int round = 0; round < 3; ++round) {
    INFO(round);
    CHECK(pass(*stage, kSome).size() == 2);  // one, and the kernel's
    CHECK(stage->kept() == 1);
    REQUIRE(stage->begin({}));
  }
}

TEST_CASE("a script without functions for events leaves them as they are") {
  CHECK(passed("filter_journeys(function(j) return false end)", kSome) == kSome);
  CHECK(passed("", kSome) == kSome);
}

TEST_CASE("a function of on() that fails is not called again, and the others are") {
  const auto stage = begun(
      "local a, b = marker('a'), marker('b')\n"
      "on('D *', function(e) if e.len == 200 then error('so') end a() end)\n"
      "on('D *', function(e) b() end)");
  const Events events = pass(*stage, kSome);
  CHECK(stage->error() == "test.lua:2: so");
  CHECK(stage->made()[0] == 1);
  CHECK(stage->made()[1] == 4);
  CHECK(events.size() == kSome.size() + 5);
}

TEST_CASE("a filter that fails ends the pass, with its line") {
  CHECK(error_at_event("\nfilter(function(e)\n  return e.len > e.sn\nend)") ==
        "test.lua:3: attempt to compare nil with number");
  CHECK(error_at_event("filter(function(e) return e.rntii == 5 end)") ==
        "test.lua:1: no point of the trace has a field \"rntii\"");
  CHECK(error_at_event("\ncolumn { name = 'c', value = function(e) return nil end }") ==
        "test.lua:2: column c: a whole number is wanted, not nil");
  CHECK(error_at_event("column { name = 'c', value = function(e) return 1.5 end }") ==
        "test.lua:1: column c: a whole number is wanted, not one with a fraction");
}

}  // namespace
}  // namespace sojourn::scripts::test
