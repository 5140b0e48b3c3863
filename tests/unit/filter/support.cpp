#include "tests/unit/filter/support.h"

#include <catch2/catch_test_macros.hpp>

namespace sojourn::filter_tests {

namespace {

model::Point point(std::string_view where, std::string_view fields) {
  auto parsed = model::parse_point(where, fields);
  REQUIRE(parsed);
  return *parsed;
}

}  // namespace

model::Schema radio() {
  model::Schema schema;
  schema.points = {point("D ip.in--rlc.tx.am", "len:rnti"),
                   point("D rlc.tx.am--mac", "len:rnti:sn"), point("D mac--phy", "::slot"),
                   point("U phy--mac", "::sn"), point("I depth", "len")};
  schema.points[1].fields[2].is_signed = true;
  // A field that occurs twice, as in imports: either value may match.
  schema.points[3].fields.push_back(schema.points[3].fields[0]);
  return schema;
}

const filter::ThreadNames& thread_names() {
  static const filter::ThreadNames kNames = {{1, "mac"}, {2, "dl pdcp"}, {4, "dl phy"}};
  return kNames;
}

model::EventBatch batch(const std::vector<Event>& events) {
  model::EventBatch made;
  std::uint64_t seq = 0;
  for (const Event& event : events)
    made.append({.ts_ns = event.ts_ns,
                 .seq = seq++,
                 .stream = event.stream,
                 .tid = event.tid,
                 .point = event.point,
                 .values = event.values});
  return made;
}

std::vector<std::uint32_t> selected(std::string_view expression, const model::EventBatch& events,
                                    filter::Missing missing, const filter::BindContext& around) {
  CAPTURE(expression);
  const auto parsed = filter::parse(expression);
  if (!parsed) FAIL(parsed.error().text());
  auto compiled = filter::EventFilter::compile(*parsed, radio(), around, missing);
  if (!compiled) FAIL(compiled.error().text());
  std::vector<std::uint32_t> rows;
  compiled->select(events, rows);
  std::vector<std::uint32_t> one_by_one;
  for (std::uint32_t row = 0; row < events.size(); ++row)
    if ((*compiled)(events[row])) one_by_one.push_back(row);
  REQUIRE(rows == one_by_one);
  return rows;
}

std::string error_of(std::string_view expression) {
  CAPTURE(expression);
  const auto parsed = filter::parse(expression);
  if (!parsed) return parsed.error().text();
  filter::BindContext around;
  around.threads = thread_names();
  const auto compiled = filter::EventFilter::compile(*parsed, radio(), around);
  REQUIRE_FALSE(compiled);
  return compiled.error().text();
}

}  // namespace sojourn::filter_tests
