// Programs that were never prepared, traced by maps: what their functions are given is read
// exactly, however they were built, and they never notice.
#include <cstdint>
#include <filesystem>
#include <string>

#include <catch2/catch_test_macros.hpp>
#include <catch2/generators/catch_generators.hpp>
#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "analysis/model/unread.h"
#include "tests/live/coarse/subject.h"

namespace sojourn::live {
namespace {

using nlohmann::json;

constexpr const char* kMap = R"toml(
[[point]]
function = "coarse_registers"
direction = "D"
src = "registers"
dest = "next"
n = "arg0"
a = "(s8)arg1"
b = "(u16)arg2"
c = "(s32)arg3"
d = "arg4"
e = "(s16)arg5"
f = "(u32)arg6"
g = "(s64)arg7"
more = "arg0 + 5"
local = ["n"]

[[point]]
function = "coarse_pointers"
src = "pointers"
sn = "*(u32*)(arg0 + 16)"
delta = "*(s32*)(arg0 + 20)"
a = "*(u8*)*(u64*)(arg0 + 8)"
b = "*(s16*)(*(u64*)(arg0 + 8) + 2)"
c = "*(u32*)(*(u64*)(arg0 + 8) + 4)"
d = "*(u64*)(*(u64*)(arg0 + 8) + 8)"
slot = "*(u32*)(*(u64*)arg1 + 16)"

[[point]]
function = "coarse_leaf"
n = "arg0"

[[point]]
function = "coarse_loop"
n = "arg0"

[[point]]
function = "coarse_frame"
n = "arg0"
third = "*(u64*)(arg1 + 16)"
)toml";

std::uint64_t wide(std::int64_t value) {
  return static_cast<std::uint64_t>(value);
}

Values registers_of(std::uint64_t n) {
  const auto number = static_cast<std::int64_t>(n);
  return {{"n", n},
          {"a", wide(static_cast<std::int8_t>(n))},
          {"b", static_cast<std::uint16_t>(n * 7)},
          {"c", wide(-number)},
          {"d", n << 33 | n},
          {"e", wide(static_cast<std::int16_t>(-3 * number))},
          {"f", n ^ 0x5aa5},
          {"g", wide(-1000 * number)},
          {"more", n + 5}};
}

Values pointers_of(std::uint64_t n) {
  Values values = {{"sn", n}, {"delta", wide(-static_cast<std::int64_t>(n))}, {"slot", n}};
  if (n % 3 == 0) return values;  // its inner pointer is null
  values["a"] = n & 0xff;
  values["b"] = wide(-static_cast<std::int64_t>(n % 1000));
  values["c"] = n * 11;
  values["d"] = ~n;
  return values;
}

TEST_CASE("arguments of functions of an unprepared program are read exactly") {
  need_root();
  const std::string name =
      GENERATE("c-O0", "c-O2", "c-O3-lto", "c-O2-no-pie", "c-O2-cet", "c-O2-stripped", "c-O2-mini",
               "c-O2-patchable", "c-clang-patchable");
  CAPTURE(name);
  if (!std::filesystem::exists(coarse_path(name))) SKIP("clang is not installed: " << name);
  CoarseSubject target(name, kMap);
  const test::Ended ended = target.record("300ms");
  CHECK_FALSE(ended.err.contains("not traced"));
  CHECK_FALSE(ended.err.contains("not by rings"));

  trace::Reader reader = open_trace(target.trace());
  std::map<std::string, std::uint64_t> hits;
  std::uint64_t unread = 0;
  std::uint64_t last = 0;
  REQUIRE(reader.merge([&](const model::EventBatch& batch) {
    for (std::size_t row = 0; row < batch.size(); ++row) {
      const model::Point& point = reader.schema().points[batch[row].point];
      const Values values = values_of(point, batch[row]);
      ++hits[point.src];
      if (point.src == "registers") {
        if (last != 0) CHECK(values.at("n") == last + 1);
        last = values.at("n");
        CHECK(values == registers_of(last));
      } else if (point.src == "pointers") {
        CHECK(values == pointers_of(values.at("sn")));
        unread += values.contains("d") ? 0 : 1;
      } else if (point.src == "coarse_loop") {
        CHECK(values.at("n") >= 1);
        CHECK(values.at("n") <= 5);
      } else if (point.src == "coarse_frame") {
        CHECK(values.at("third") == 3);
      }
    }
    return true;
  }));
  CHECK(hits["registers"] > 50);
  CHECK(unread > hits["pointers"] / 4);
  CHECK(unread < hits["pointers"] / 2);
  // Each is called once in a round, its leaf three times: at the ends of the capture one less.
  for (const char* once : {"pointers", "coarse_loop", "coarse_frame"}) {
    CAPTURE(once);
    CHECK(hits[once] + 1 >= hits["registers"]);
    CHECK(hits[once] <= hits["registers"] + 1);
  }
  // Clang makes one call of two that return the same.
  const std::uint64_t leaves = name.contains("clang") ? 2 : 3;
  CHECK(hits["coarse_leaf"] + leaves >= leaves * hits["registers"]);
  CHECK(hits["coarse_leaf"] <= leaves * hits["registers"] + leaves);
  CHECK(target.running());
}

TEST_CASE("a value that cannot be read is shown as none") {
  need_root();
  CoarseSubject target("c-O2", kMap);
  target.record("500ms");
  CHECK(sojourn_done({"events", target.trace(), "--points", "pointers"}).contains(" d ?"));
  const std::string text =
      sojourn_done({"events", target.trace(), "--points", "pointers", "--json"});
  CHECK_FALSE(text.contains(model::kUnreadField));
  std::size_t unread = 0;
  for (std::size_t at = 0; at < text.size(); at = text.find('\n', at) + 1) {
    const json event = json::parse(text.substr(at, text.find('\n', at) - at));
    const json& fields = event.at("fields");
    CHECK(fields.at("d").is_null() == (fields.at("sn").get<std::uint64_t>() % 3 == 0));
    unread += fields.at("d").is_null() ? 1 : 0;
  }
  CHECK(unread > 10);
}

TEST_CASE("a map without pointers also marks values that could not be read") {
  need_root();
  // A small number is no address.
  CoarseSubject target("c-O2", "[[point]]\nfunction = 'coarse_frame'\nx = '*(u64*)arg0'\n");
  target.record("100ms");
  const std::string text = sojourn_done({"events", target.trace(), "--limit", "5"});
  CHECK(text.contains(" x ?"));
  CHECK_FALSE(text.contains(" x 0"));
}

constexpr const char* kNamedMap = R"toml(
[[point]]
function = "coarse_named"
src = "named"
sn = "unit->pdu->sn"
version = "unit->header.version"
kind = "unit->header.kind"
gain = "unit->header.gain"
teid = "unit->header.teid"
rnti = "unit->rnti"
slot = "unit->slots[2]"
enumerated = "unit->kind"
large = "large.header.teid"
count = "count"
small = "small"
cut = "(u8)count"
there = "*(u32*)(unit->pdu + 16)"
more = "unit->header.teid + 1"
next = "unit[0].header.teid"
)toml";

Values named_of(std::uint64_t n) {
  const auto number = static_cast<std::int64_t>(n);
  return {{"sn", n},
          {"version", 5},
          {"kind", n & 31},
          {"gain", wide(number % 60 - 30)},
          {"teid", n * 13},
          {"rnti", static_cast<std::uint16_t>(n + 0x4601)},
          {"slot", static_cast<std::uint16_t>(n * 3)},
          {"enumerated", n % 2 == 0 ? 3 : 300},
          {"large", n * 17},
          {"count", n + 1},
          {"small", wide(static_cast<std::int8_t>(-number))},
          {"cut", (n + 1) & 0xff},
          {"there", n},
          {"more", n * 13 + 1},
          {"next", n * 13}};
}

TEST_CASE("debug information gives the place of each name, and reports missing ones") {
  need_root();
  const std::string name = GENERATE("c-O0", "c-O2-g", "c-O2-split", "c-clang-O0", "c-clang-O2");
  CAPTURE(name);
  if (!std::filesystem::exists(coarse_path(name))) SKIP("clang is not installed: " << name);
  CoarseSubject target(name, kNamedMap);
  const test::Ended ended = target.record("300ms");
  CHECK_FALSE(ended.err.contains("not traced"));
  trace::Reader reader = open_trace(target.trace());
  std::uint64_t hits = 0;
  REQUIRE(reader.merge([&](const model::EventBatch& batch) {
    for (std::size_t row = 0; row < batch.size(); ++row, ++hits) {
      const Values values = values_of(reader.schema().points[batch[row].point], batch[row]);
      CHECK(values == named_of(values.at("sn")));
    }
    return true;
  }));
  CHECK(hits > 50);

  const auto why_not = [&](const std::string& expression) {
    target.change_map("[[point]]\nfunction='coarse_named'\nx='" + expression + "'\n");
    const test::Ended refused = sojourn(target.with_map("list", {"--allow-slow-sites"}));
    CHECK(refused.exit_code == 1);
    return refused.err;
  };
  CHECK(why_not("unti->kind")
            .contains("no argument 'unti': did you mean unit?; it has: unit, unused"));
  CHECK(why_not("unit->hedaer").contains("'unit' has no member 'hedaer': did you mean header?"));
  CHECK(why_not("unit.kind").contains("'unit' is a pointer: write '->'"));
  CHECK(why_not("unit->header->kind").contains("'unit->header' is no pointer: write '.'"));
  CHECK(why_not("unit->header").contains("is no number: name a member"));
  CHECK(why_not("unused").contains("is no integer"));
  CHECK(why_not("count[1]").contains("has no elements"));
  target.change_map("[[point]]\nfunction='coarse_inlined'\n");
  const test::Ended inlined = sojourn(target.with_map("list"));
  CHECK(inlined.exit_code == 1);
  CHECK(inlined.err.contains("it is inlined in 1 place, such as in main"));
}

constexpr const char* kObjectsMap = R"toml(
[[point]]
function = "members"
n = "a"
base = "unit.number"
kept = "unit.kept"
sn = "unit.header.sn"
middle = "unit.header.middle"
below = "unit.header.below"
other = "unit.other->sn"
cell = "unit.grid[1][2]"
half = "unit.half[1]"
pushed = "f"
last = "g"

[[point]]
function = "records"
n = "slot.count"
numerology = "slot.numerology"
shift = "slot.shift"
after = "after"

[[point]]
function = "owner"
n = "n"

[[point]]
function = "named::name"
n = "n"
sn = "unit->header.sn"

[[point]]
function = "held"
n = "n"
sn = "unit->header.sn"

[[point]]
function = "coarse_seldom"
n = "n"
)toml";

Values objects_of(const std::string& point, std::uint64_t n) {
  Values values = {{"n", n}};
  if (point == "named::members")
    values.merge(Values{{"base", 99},
                        {"kept", 88},
                        {"sn", n & 0xffff},
                        {"middle", 300},
                        {"below", wide(-7)},
                        {"other", 77},
                        {"cell", wide(-12)},
                        {"half", 5},
                        {"pushed", 600},
                        {"last", wide(-7)}});
  if (point == "named::records")
    values.merge(Values{{"numerology", 3}, {"shift", wide(-4)}, {"after", n + 1}});
  if (point == "named::name" || point == "named::held") values["sn"] = n & 0xffff;
  return values;
}

TEST_CASE("arguments of C++ functions are read by name, in any way of passing") {
  need_root();
  const std::string name = GENERATE("named-O0", "named-O2", "named-O2-types", "named-O2-dwo",
                                    "named-O3-lto", "named-clang-O0", "named-clang-O2");
  CAPTURE(name);
  if (!std::filesystem::exists(coarse_path(name))) SKIP("clang is not installed: " << name);
  CoarseSubject target(name, kObjectsMap);
  const test::Ended ended = target.record("300ms");
  CHECK_FALSE(ended.err.contains("not traced"));
  trace::Reader reader = open_trace(target.trace());
  std::map<std::string, std::uint64_t> hits;
  REQUIRE(reader.merge([&](const model::EventBatch& batch) {
    for (std::size_t row = 0; row < batch.size(); ++row) {
      const model::Point& point = reader.schema().points[batch[row].point];
      const Values values = values_of(point, batch[row]);
      ++hits[point.src];
      CAPTURE(point.src);
      CHECK(values == objects_of(point.src, values.at("n")));
    }
    return true;
  }));
  CHECK(hits["named::members"] > 50);
  // Each is called once in a round, even if a part of it lies elsewhere.
  for (const char* one :
       {"named::records", "named::owner", "named::name", "named::held", "coarse_seldom"}) {
    CAPTURE(one);
    CHECK(hits[one] + 1 >= hits["named::members"]);
    CHECK(hits[one] <= hits["named::members"] + 1);
  }

  CHECK(target.running());
}

TEST_CASE("elements that an array has not are refused") {
  need_root();
  CoarseSubject target("named-O2", R"toml(
[[point]]
function = "members"
row = "unit.grid[1]"
[[point]]
function = "members"
row = "unit.grid[2][0]"
[[point]]
function = "members"
cell = "unit.grid[1][3]"
)toml");
  const test::Ended refused = sojourn(target.with_map("list", {"--allow-slow-sites"}));
  CAPTURE(refused.err);
  CHECK(refused.exit_code == 1);
  CHECK(refused.err.contains("'unit.grid[1]' is no number"));
  CHECK(refused.err.contains("'unit.grid' has 2 elements"));
  CHECK(refused.err.contains("'unit.grid[1]' has 3 elements"));
}

}  // namespace
}  // namespace sojourn::live
