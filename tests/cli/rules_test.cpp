// --explain-rules and --rules: the printed rules are those that apply, and errors in a file have
// their place.
#include <string>

#include <catch2/catch_test_macros.hpp>
#include <catch2/generators/catch_generators.hpp>

#include "tests/cli/programs.h"

namespace sojourn::cli_tests {
namespace {

// A trace and a file of rules beside it.
class Ruled {
 public:
  explicit Ruled(const std::string& text, const std::string& fixture = "radio")
      : trace_(traces_.path(fixture)), rules_(traces_.directory().path("my.rules")) {
    test::write_contents(rules_, text);
  }

  const std::string& trace() const { return trace_; }
  const std::string& rules() const { return rules_; }
  test::Ended run(const std::string& command) const {
    return sojourn({command, trace_, "--rules", rules_});
  }

 private:
  Traces traces_;
  std::string trace_;
  std::string rules_;
};

TEST_CASE("the rules that are printed, given back, change nothing") {
  const std::string fixture = GENERATE("radio", "lossy");
  CAPTURE(fixture);
  const Traces traces;
  const std::string trace = traces.path(fixture);
  const std::string rules = traces.directory().path("all.rules");
  const std::string printed = output_of({"journeys", trace, "--explain-rules"});
  CHECK(printed == output_of({"report", trace, "--explain-rules"}));
  test::write_contents(rules, printed);
  CHECK(output_of({"journeys", trace, "--rules", rules, "--explain-rules"}) == printed);
  CHECK(output_of({"journeys", trace, "--rules", rules}) == output_of({"journeys", trace}));
  CHECK(output_of({"report", trace, "--rules", rules, "--json"}) ==
        output_of({"report", trace, "--json"}));
}

TEST_CASE("a stated output is where journeys end") {
  const Ruled ruled(
      "point D pdcp.in--pdcp.tx output\n"
      "point D pdcp.tx--rlc.tx.um inner\n"
      "point D pdcp.tx--rlc.tx.am inner\n");
  const test::Ended ended = ruled.run("journeys");
  CHECK(ended.exit_code == 0);
  CHECK(ended.err.empty());
  CHECK(ended.out.contains("pdcp.in--pdcp.tx  psn 0  whole\n"));
  // Later points belong to no packet that entered.
  std::size_t begin = 0;
  for (auto end = ended.out.find("\n\n"); end != std::string::npos;
       end = ended.out.find("\n\n", begin)) {
    const std::string journey = ended.out.substr(begin, end - begin);
    CAPTURE(journey);
    CHECK_FALSE((journey.contains("ip.in--pdcp.in") && journey.contains("pdcp.tx--rlc.tx")));
    begin = end + 2;
  }
  CHECK(begin > 0);
}

TEST_CASE("rules apply to causes and to units in flight as well") {
  const Ruled ruled(
      "point D pdcp.in--pdcp.tx output\n"
      "point D pdcp.tx--rlc.tx.um inner\n"
      "point D pdcp.tx--rlc.tx.am inner\n");
  const std::string causes = output_of(
      {"explain", ruled.trace(), "--dir", "D", "--deadline", "1ns", "--rules", ruled.rules()});
  CHECK(causes.contains("D pdcp.in"));
  CHECK_FALSE(causes.contains("D rlc"));
  const std::string queues =
      output_of({"queues", ruled.trace(), "--places", "--rules", ruled.rules()});
  CHECK(queues.contains("D pdcp.in"));
  CHECK_FALSE(queues.contains("D pdcp.tx"));
}

TEST_CASE("a rule for a point that the trace does not have is reported and left out") {
  const Ruled ruled("\npoint D nowhere--out output\n");
  const test::Ended ended = ruled.run("journeys");
  CHECK(ended.exit_code == 0);
  CHECK(ended.err == ruled.rules() + ":2:9: there is no point D nowhere--out in " + ruled.trace() +
                         ": this rule is left out\n");
  CHECK(ended.out == output_of({"journeys", ruled.trace()}));
}

TEST_CASE("every command that reads rules reports an error in them with its place") {
  const std::string command = GENERATE("journeys", "report", "explain", "queues");
  CAPTURE(command);
  SECTION("a word that is none") {
    const Ruled ruled("expiry 10s\npoint D a--b exit\n");
    require_pointed_error(ruled.run(command), ruled.rules() + ":2:14: expected \"input\"");
  }
  SECTION("an id that the trace's point does not have") {
    const Ruled ruled("pair D ip.in--pdcp.in -> pdcp.in--pdcp.tx by rnti.psn\n");
    require_error(
        ruled.run(command),
        ruled.rules() + ":1:8: ip.in--pdcp.in -> pdcp.in--pdcp.tx: D ip.in--pdcp.in has no id psn");
  }
  SECTION("no text at all") {
    const Ruled ruled(std::string("\0\1\2\xff\n\0", 6));
    require_pointed_error(ruled.run(command), ruled.rules() + ":1:1: an unprintable character");
  }
  SECTION("no file") {
    const Ruled ruled("");
    require_error(sojourn({command, ruled.trace(), "--rules", ruled.rules() + ".not"}),
                  "open " + ruled.rules() + ".not: No such file or directory");
  }
}

TEST_CASE("an empty file of rules states nothing") {
  const Ruled ruled("# nothing\n\n");
  CHECK(ruled.run("journeys").out == output_of({"journeys", ruled.trace()}));
}

TEST_CASE("rules say where LatSeq's own rebuilder ends as well") {
  const Ruled ruled("point D pdcp.in--pdcp.tx output\n");
  const test::Ended ended = sojourn(
      {"journeys", ruled.trace(), "--compat", "latseq", "--dir", "D", "--rules", ruled.rules()});
  CHECK(ended.exit_code == 0);
  CHECK(ended.out.contains("pdcp.tx"));
  CHECK_FALSE(ended.out.contains("phy.out.ant"));
}

TEST_CASE("events that are exported as they are need no rules") {
  const Ruled ruled("");
  const test::Ended ended =
      sojourn({"export", ruled.trace(), "--to", "lseq", "--rules", ruled.rules()});
  CHECK(ended.exit_code == 2);
  CHECK(ended.err.contains("--to lseq has no --rules"));
}

}  // namespace
}  // namespace sojourn::cli_tests
