// The meaning of expressions for single events.
#include <catch2/catch_test_macros.hpp>

#include "tests/unit/filter/support.h"

namespace sojourn::filter_tests {
namespace {

using Rows = std::vector<std::uint32_t>;

constexpr auto kMinusOne = static_cast<std::uint64_t>(-1);

TEST_CASE("every comparison takes in its bound or leaves it out as it says") {
  const auto events = batch({{0, {9, 1}}, {0, {10, 1}}, {0, {11, 1}}});
  CHECK(selected("len == 10", events) == Rows{1});
  CHECK(selected("len != 10", events) == Rows{0, 2});
  CHECK(selected("len < 10", events) == Rows{0});
  CHECK(selected("len <= 10", events) == Rows{0, 1});
  CHECK(selected("len > 10", events) == Rows{2});
  CHECK(selected("len >= 10", events) == Rows{1, 2});
  CHECK(selected("10 < len", events) == Rows{2});
  CHECK(selected("10 >= len", events) == Rows{0, 1});
}

TEST_CASE("sets and ranges hold their ends") {
  const auto events = batch({{0, {9, 1}}, {0, {10, 1}}, {0, {20, 1}}, {0, {21, 1}}});
  CHECK(selected("len in 10..20", events) == Rows{1, 2});
  CHECK(selected("len in {9, 21}", events) == Rows{0, 3});
  CHECK(selected("len in {9, 15..21}", events) == Rows{0, 2, 3});
  CHECK(selected("!len in {9, 15..21}", events) == Rows{1});
  CHECK(selected("len in {1,3,5,7,9,11,13,15,17,19,21}", events) == Rows{0, 3});
}

TEST_CASE("&& binds closer than ||, ! looser than a comparison, * closer than +") {
  const auto events = batch({{0, {1, 1}}, {0, {2, 1}}, {0, {2, 2}}, {0, {7, 3}}});
  CHECK(selected("len == 1 || len == 2 && rnti == 2", events) == Rows{0, 2});
  CHECK(selected("(len == 1 || len == 2) && rnti == 1", events) == Rows{0, 1});
  CHECK(selected("!len == 2 && rnti == 1", events) == Rows{0});
  CHECK(selected("!(len == 2 && rnti == 1)", events) == Rows{0, 2, 3});
  CHECK(selected("len == 1 + 2 * rnti", events) == Rows{3});
  CHECK(selected("len == (1 + 0) * 2 * 1", events) == Rows{1, 2});
  CHECK(selected("len == 10 - 2 - 1", events) == Rows{3});
  CHECK(selected("len - -1 == 8 % 5 - 1", events) == Rows{0});
  CHECK(selected("len / 2 == 3", events) == Rows{3});
}

TEST_CASE("numbers may be hexadecimal and have units") {
  const auto events = batch({{0, {0x4601, 1}}, {0, {1500, 1}}, {0, {2'000'000, 1}}});
  CHECK(selected("len == 0x4601", events) == Rows{0});
  CHECK(selected("len == 1.5k", events) == Rows{1});
  CHECK(selected("len == 2M", events) == Rows{2});
  CHECK(selected("len == 2ms", events) == Rows{2});
  CHECK(selected("len == 1.5us", events) == Rows{1});
}

TEST_CASE("a time may have a blank before its unit, as reports print it") {
  const auto events = batch({{0, {2'000'000, 1}}, {0, {3, 5}}});
  CHECK(selected("len == 2 ms", events) == Rows{0});
  CHECK(selected("len in 1 ms..1 min && rnti == 1", events) == Rows{0});
  CHECK(selected("rnti == 5 && time < 2 h", events) == Rows{1});
  CHECK(selected("len == 3 && rnti == 5", events) == Rows{1});
}

TEST_CASE("a signed field is negative where it says so, and an unsigned one never is") {
  const auto events = batch({{1, {kMinusOne, 1, kMinusOne}}, {1, {5, 1, 5}}});
  CHECK(selected("sn < 0", events) == Rows{0});
  CHECK(selected("sn == -1", events) == Rows{0});
  CHECK(selected("sn in -5..10", events) == Rows{0, 1});
  CHECK(selected("sn in {-5..-1, 7}", events) == Rows{0});
  CHECK(selected("len < 0", events).empty());
  CHECK(selected("len > -1", events) == Rows{0, 1});
  CHECK(selected("len == 0xffffffffffffffff", events) == Rows{0});
  CHECK(selected("sn < len", events) == Rows{0});
}

TEST_CASE("points are selected by name, direction, place and pattern") {
  const auto events = batch({{0, {1, 1}}, {1, {1, 1, 1}}, {2, {1}}, {3, {1, 1}}, {4, {1}}});
  CHECK(selected("point == ip.in--rlc.tx.am", events) == Rows{0});
  CHECK(selected("point ~ rlc.*", events) == Rows{1});
  CHECK(selected("point !~ *mac*", events) == Rows{0, 4});
  CHECK(selected("point ~ 'U *'", events) == Rows{3});
  CHECK(selected("point in {depth, mac--*}", events) == Rows{2, 4});
  CHECK(selected("dir == U", events) == Rows{3});
  CHECK(selected("dir in {U, I}", events) == Rows{3, 4});
  CHECK(selected("dir != D", events) == Rows{3, 4});
  CHECK(selected("src == mac", events) == Rows{2});
  CHECK(selected("dest == mac", events) == Rows{1, 3});
  CHECK(selected("hop == mac", events) == Rows{1, 2, 3});
  CHECK(selected("dir==D&&!(hop ~ ip.*)", events) == Rows{1, 2});
}

TEST_CASE("an event without the field is neither equal nor unequal to anything") {
  const auto events = batch({{0, {1, 5}}, {0, {1, 6}}, {2, {1}}});
  CHECK(selected("rnti == 5", events) == Rows{0});
  CHECK(selected("rnti != 5", events) == Rows{1});
  CHECK(selected("!(rnti == 5)", events) == Rows{1});
  CHECK(selected("rnti == 5 || slot == 1", events) == Rows{0, 2});
  CHECK(selected("has(rnti)", events) == Rows{0, 1});
  CHECK(selected("!has(rnti) || rnti == 6", events) == Rows{1, 2});
}

TEST_CASE("a capture keeps events that the expression cannot judge") {
  const auto events = batch({{0, {1, 5}}, {0, {1, 6}}, {2, {1}}});
  constexpr auto kKeep = filter::Missing::kAccept;
  CHECK(selected("rnti == 5", events, kKeep) == Rows{0, 2});
  CHECK(selected("rnti != 5", events, kKeep) == Rows{1, 2});
  CHECK(selected("!(rnti == 5)", events, kKeep) == Rows{1, 2});
  CHECK(selected("has(rnti) && rnti == 5", events, kKeep) == Rows{0});
  CHECK(selected("rnti == 5 && dir == U", events, kKeep).empty());
}

TEST_CASE("for a field that occurs several times any value will do, and != wants none") {
  const auto events = batch({{3, {1, 2}}, {3, {2, 2}}, {3, {3, 3}}});
  CHECK(selected("sn == 2", events) == Rows{0, 1});
  CHECK(selected("sn != 2", events) == Rows{2});
  CHECK(selected("sn * 10 == 10", events) == Rows{0});
  CHECK(selected("!(sn * 10 == 20)", events) == Rows{2});
}

TEST_CASE("a value that cannot be calculated is neither true nor false") {
  const auto events = batch({{0, {0, 5}}, {0, {2, 5}}});
  CHECK(selected("10 / len == 5", events) == Rows{1});
  CHECK(selected("10 / len != 4", events) == Rows{1});
  CHECK(selected("10 % len == 0", events) == Rows{1});
  CHECK(selected("10 / len == 4", events, filter::Missing::kAccept) == Rows{0});
}

TEST_CASE("time counts from the capture's first mark, and a CPU is that of the stream") {
  const auto events = batch({{0, {1, 1}, 1'000, 7, 0}, {0, {1, 1}, 3'000, 8, 1}, {0, {1, 1}, 500}});
  filter::BindContext around;
  around.origin_ns = 1'000;
  around.streams = {{.id = 0, .cpu = 3}, {.id = 1, .cpu = -1}};
  const auto rows = [&](std::string_view expression) {
    return selected(expression, events, filter::Missing::kReject, around);
  };
  CHECK(rows("time >= 2us") == Rows{1});
  CHECK(rows("time < 0") == Rows{2});
  CHECK(rows("time + 1us in 1us..2us") == Rows{0});
  CHECK(rows("thread == 8") == Rows{1});
  CHECK(rows("tid in {7, 8}") == Rows{0, 1});
  CHECK(rows("cpu == 3") == Rows{0, 2});
  CHECK(rows("cpu != 3").empty());
  CHECK(rows("stream > 0") == Rows{1});
}

TEST_CASE("a thread is selected by its number or by its name, in one set by both") {
  const auto events = batch({{0, {1, 1}, 0, 1}, {0, {2, 1}, 0, 2}, {0, {3, 1}, 0, 3}});
  filter::BindContext around;
  around.threads = thread_names();
  const auto rows = [&](std::string_view expression,
                        filter::Missing missing = filter::Missing::kReject) {
    return selected(expression, events, missing, around);
  };
  CHECK(rows("thread == mac") == Rows{0});
  CHECK(rows("thread == 'dl pdcp'") == Rows{1});
  CHECK(rows("thread ~ dl*") == Rows{1});
  CHECK(rows("thread in {mac, dl*}") == Rows{0, 1});
  CHECK(rows("thread in {mac, 3}") == Rows{0, 2});
  CHECK(rows("thread in {1..2}") == Rows{0, 1});
  CHECK(rows("thread in 2..3") == Rows{1, 2});
  CHECK(rows("thread == field(len)") == Rows{0, 1, 2});
  CHECK(rows("tid == len") == Rows{0, 1, 2});
  // The name of the third thread is unknown.
  CHECK(rows("thread != mac") == Rows{1});
  CHECK(rows("thread !~ m*") == Rows{1});
  CHECK(rows("!(thread in {mac, 3})") == Rows{1});
  CHECK(rows("thread == mac", filter::Missing::kAccept) == Rows{0, 2});
  CHECK(rows("thread != mac", filter::Missing::kAccept) == Rows{1, 2});
  around.threads.clear();
  around.more_threads = true;
  CHECK(rows("thread == nobody").empty());
  CHECK(rows("thread == nobody", filter::Missing::kAccept) == Rows{0, 1, 2});
}

TEST_CASE("an expression shows whether it can be true at all") {
  const auto span = [](std::string_view expression) {
    filter::BindContext around;
    around.origin_ns = 1'000;
    const auto made = filter::EventFilter::compile(*filter::parse(expression), radio(), around);
    REQUIRE(made);
    return made->span();
  };
  using filter::Span;
  CHECK(span("len > 1") == Span{});
  CHECK(span("time >= 1us") == Span{2'000, UINT64_MAX});
  CHECK(span("time < 1us && len > 1") == Span{0, 1'999});
  CHECK(span("!(time < 1us)") == Span{2'000, UINT64_MAX});
  CHECK(span("time in 1us..2us && time < 1500ns") == Span{2'000, 2'499});
  CHECK(span("time in {1us, 3us..4us}") == Span{2'000, 5'000});
  CHECK(span("time in 1us..2us || time == 5us") == Span{2'000, 6'000});
  CHECK(span("time in 1us..2us || len > 1") == Span{});
  CHECK(span("!(time in 1us..2us)") == Span{});
  CHECK(span("time > -500ns") == Span{501, UINT64_MAX});
  CHECK(span("time > -5us") == Span{});
  CHECK(span("time + 1us > 2us") == Span{});
}

TEST_CASE("very many threads may be meant") {
  filter::BindContext around;
  std::vector<Event> events;
  Rows expected;
  for (std::uint32_t tid = 0; tid < 3'000; ++tid) {
    const bool is_worker = tid % 3 == 0;
    around.threads[tid] = is_worker ? "worker" : "other";
    events.push_back({0, {1, 1}, 0, tid});
    if (is_worker) expected.push_back(tid);
  }
  CHECK(selected("thread == worker", batch(events), filter::Missing::kReject, around) == expected);
}

TEST_CASE("rows come in their order, however they were decided, over many chunks") {
  std::vector<Event> events;
  Rows expected;
  for (std::uint32_t row = 0; row < 5'000; ++row) {
    events.push_back({static_cast<model::PointId>(row % 3 == 0 ? 0 : 2), {row % 7, row}});
    if (row % 3 == 0 && (row % 7 == 3 || row % 2 == 0)) expected.push_back(row);
    if (row % 3 != 0) events.back().values.pop_back();
    if (row % 3 != 0 && row % 7 == 1) expected.push_back(row);
  }
  CHECK(selected("len == 3 || rnti % 2 == 0 || slot == 1", batch(events)) == expected);
}

TEST_CASE("an event with fewer values than its point's fields is not selected") {
  const auto events = batch({{0, {1}}, {0, {1, 1}}, {9, {}}});
  CHECK(selected("len == 1", events) == Rows{1});
}

TEST_CASE("conjunctions of comparisons with constants are recognised") {
  const auto tests = [](std::string_view expression, model::PointId point) {
    const auto compiled = filter::EventFilter::compile(*filter::parse(expression), radio(), {});
    REQUIRE(compiled);
    return compiled->field_tests(point);
  };
  const auto both = tests("rnti == 5 && len != 7", 0);
  REQUIRE(both);
  REQUIRE(both->size() == 2);
  CHECK((*both)[0].field == 1);
  CHECK((*both)[0].low == 5);
  CHECK((*both)[0].width == 0);
  CHECK_FALSE((*both)[0].is_negated);
  CHECK((*both)[1].field == 0);
  CHECK((*both)[1].low == 7);
  CHECK((*both)[1].is_negated);
  CHECK_FALSE(tests("rnti == 5 || len == 7", 0));
  CHECK_FALSE(tests("rnti * 2 == 5", 0));
  CHECK_FALSE(tests("thread == 5", 0));
  CHECK(tests("dir == D", 0)->empty());
  CHECK_FALSE(tests("dir == U", 0));
}

}  // namespace
}  // namespace sojourn::filter_tests
