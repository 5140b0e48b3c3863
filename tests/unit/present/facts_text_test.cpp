// The lines of a report about the recording itself, such as points that were off.
#include "analysis/present/report/facts_text.h"

#include <string>
#include <vector>

#include <catch2/catch_test_macros.hpp>

#include "analysis/present/words/shed_words.h"

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
        "off, for the budget or switched off  times   in all\n"
        "  D in--rlc and 1 more                   1  4.00 us\n"
        "  D in--mac                              1  8.00 us\n");
}

TEST_CASE("rates over a time in which points were off are marked") {
  model::Schema schema;
  schema.points.resize(3);
  model::Capture capture;
  capture.open_ns = 1'000;
  capture.close_ns = 11'000;
  CHECK(shed_notice(schema, capture).empty());
  // One of the two came back, the other's end is not known.
  capture.shed = {{.point = 0, .from_ns = 2'000, .until_ns = 4'000},
                  {.point = 2, .from_ns = 3'000, .until_ns = 0}};
  CHECK(shed_notice(schema, capture)
            .starts_with("2 of 3 points were off for up to 80.0 % of the time, for the budget or "
                         "switched off: rates, gaps and depths are of the whole time"));
  CHECK(model::longest_shed_share(capture) == 0.8);
}

}  // namespace
}  // namespace sojourn::present
