// What a report says of the recording itself.
#include "analysis/present/report/facts_text.h"

#include <string>
#include <vector>

#include <catch2/catch_test_macros.hpp>

namespace sojourn::present {
namespace {

TEST_CASE("points that were off together, to stay within the budget, are one row") {
  const std::string path = "run.sjt";
  model::Schema schema;
  for (const char* dest : {"rlc", "mac", "phy"}) {
    model::Point point;
    point.direction = model::Direction::kDownlink;
    point.src = "in";
    point.dest = dest;
    schema.points.push_back(point);
  }
  const std::vector<model::Target> targets(1);
  const model::Host host;
  model::Capture capture;
  const model::Ledger ledger;
  const Facts facts = {path, schema, targets, host, capture, ledger};
  CHECK(shed_text(facts).empty());
  capture.shed = {{.point = 0, .from_ns = 1'000, .until_ns = 5'000},
                  {.point = 2, .from_ns = 1'000, .until_ns = 5'000},
                  {.point = 1, .from_ns = 1'000, .until_ns = 9'000}};
  CHECK(shed_text(facts) ==
        "\n"
        "off to stay within the budget  times   in all\n"
        "  D in--rlc and 1 more             1  4.00 us\n"
        "  D in--mac                        1  8.00 us\n");
}

}  // namespace
}  // namespace sojourn::present
