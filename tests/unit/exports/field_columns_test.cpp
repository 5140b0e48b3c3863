#include "analysis/exports/field_columns.h"

#include <string>
#include <vector>

#include <catch2/catch_test_macros.hpp>

#include "analysis/model/unread.h"

namespace sojourn::exports {
namespace {

std::vector<std::string> names_of(const FieldColumns& fields) {
  std::vector<std::string> names;
  for (const Column& column : fields.columns()) names.push_back(column.name);
  return names;
}

model::Point point_of(const char* where, const char* format) {
  auto point = model::parse_point(where, format);
  REQUIRE(point.has_value());
  return *point;
}

TEST_CASE("points share a column for each name, and a name that stands twice has two") {
  const model::Schema schema{
      .points = {point_of("D a--b", "len:rnti:psn.psn"), point_of("D b--c", "len:rnti:psn")}};
  const FieldColumns all(schema, "field_", is_event_field);
  CHECK(names_of(all) ==
        std::vector<std::string>{"field_len", "field_rnti", "field_psn", "field_psn_2"});
  std::vector<Cell> cells(4);
  const std::uint64_t values[] = {100, 7, 1, 2};
  all.fill(0, values, cells);
  CHECK(cells == std::vector<Cell>{std::uint64_t{100}, std::uint64_t{7}, std::uint64_t{1},
                                   std::uint64_t{2}});
  CHECK(names_of(FieldColumns(schema, "id_", is_id_field)) ==
        std::vector<std::string>{"id_rnti", "id_psn", "id_psn_2"});
}

TEST_CASE("a name that is signed here and unsigned there keeps the values of both") {
  model::Schema schema{.points = {point_of("D a--b", "x::"), point_of("D b--c", "x::")}};
  schema.points[1].fields[0].is_signed = true;
  const FieldColumns fields(schema, "", is_event_field);
  CHECK(names_of(fields) == std::vector<std::string>{"x", "x_signed"});
  std::vector<Cell> cells(2);
  const std::uint64_t values[] = {UINT64_MAX};
  fields.fill(0, values, cells);
  fields.fill(1, values, cells);
  CHECK(cells == std::vector<Cell>{UINT64_MAX, std::int64_t{-1}});
}

TEST_CASE("an unread value is empty, and its mark is no column") {
  model::Schema schema{.points = {point_of("D a--b", "len.x::")}};
  schema.points[0].fields.push_back({.name = std::string(model::kUnreadField)});
  const FieldColumns fields(schema, "", is_event_field);
  CHECK(names_of(fields) == std::vector<std::string>{"len", "x"});
  std::vector<Cell> cells(2);
  const std::uint64_t values[] = {5, 0, 0b10};
  fields.fill(0, values, cells);
  CHECK(cells == std::vector<Cell>{std::uint64_t{5}, Cell()});
}

}  // namespace
}  // namespace sojourn::exports
