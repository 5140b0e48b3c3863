// LineParser reads back the lines of LineWriter, including names and values that LatSeq itself
// would not understand.
#include "analysis/latseq/line_writer.h"

#include <catch2/catch_test_macros.hpp>

#include "analysis/latseq/line.h"

namespace sojourn::latseq {
namespace {

model::Schema schema_of(const std::string& where, const std::string& format) {
  auto point = model::parse_point(where, format);
  REQUIRE(point.has_value());
  for (model::Field& field : point->fields) field.is_signed = true;
  return {.points = {*point}};
}

std::string written(const model::Schema& schema, const std::vector<std::uint64_t>& values) {
  LineWriter writer(schema);
  const model::EventView event = {.point = 0, .values = values};
  return writer.line(event, 1'587'645'146'191'801'000);
}

TEST_CASE("a line has its groups, also the empty ones") {
  CHECK(written(schema_of("D ip.in--pdcp.in", "len:rnti:drb.psn"), {64, 17, 1, 12}) ==
        "1587645146.191801 D ip.in--pdcp.in len64:rnti17:drb1.psn12\n");
  CHECK(written(schema_of("U a--b", "len"), {64}) == "1587645146.191801 U a--b len64::\n");
  CHECK(written(schema_of("U a--b", "::psn.psn"), {0, 34}) ==
        "1587645146.191801 U a--b ::psn0.psn34\n");
  CHECK(written(schema_of("U a--b", ""), {}) == "1587645146.191801 U a--b ::\n");
  CHECK(written(schema_of("I rlc.tx.occ", "occ"), {12}) ==
        "1587645146.191801 I rlc.tx.occ occ12\n");
}

TEST_CASE("names and values that a digit behind them would change are read back as they were") {
  for (const std::string name : {"len", "n3", "ue_", "a-b-", "x0x", "r0xbe", "n3len"}) {
    for (const std::int64_t value : {0, 5, -7, 123456}) {
      CAPTURE(name, value);
      const auto schema = schema_of("D a--b", name + "::");
      const std::string line = written(schema, {static_cast<std::uint64_t>(value)});
      LineParser parser;
      const Line& read = parser.parse(line);
      CAPTURE(line);
      REQUIRE(read.kind == Line::Kind::kEvent);
      CHECK(read.shape == "D a--b " + name);
      REQUIRE(read.values.size() == 1);
      CHECK(static_cast<std::int64_t>(read.values[0]) == value);
      CHECK(read.stamp.value == 1'587'645'146'191'801'000);
    }
  }
}

TEST_CASE("nanoseconds are written where there are some, and unsigned values as they are") {
  auto schema = schema_of("D a--b", "len::");
  schema.points[0].fields[0].is_signed = false;
  LineWriter writer(schema);
  const std::vector<std::uint64_t> values = {UINT64_MAX};
  CHECK(writer.line({.point = 0, .values = values}, 1'000'000'001) ==
        "1.000000001 D a--b len18446744073709551615::\n");
}

TEST_CASE("kernel events and forged events have no line") {
  auto schema = schema_of("D a--b", "len::");
  const std::vector<std::uint64_t> none;
  LineWriter writer(schema);
  CHECK(writer.line({.point = 0, .values = none}, 1).empty());
  CHECK(writer.line({.point = 7, .values = none}, 1).empty());
  schema.points[0].direction = model::Direction::kContext;
  LineWriter of_kernel(schema);
  const std::vector<std::uint64_t> values = {1};
  CHECK(of_kernel.line({.point = 0, .values = values}, 1).empty());
}

}  // namespace
}  // namespace sojourn::latseq
