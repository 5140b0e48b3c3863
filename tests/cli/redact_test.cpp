// Traces and pages without ids and names, as a user makes them.
#include <cstdint>
#include <fstream>
#include <iterator>
#include <map>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include <catch2/catch_test_macros.hpp>
#include <nlohmann/json.hpp>

#include "tests/cli/programs.h"

namespace sojourn::cli_tests {
namespace {

using nlohmann::json;

std::vector<json> journeys(const std::string& trace) {
  std::vector<json> lines;
  std::istringstream stream(output_of({"journeys", trace, "--json"}));
  for (std::string line; std::getline(stream, line);) lines.push_back(json::parse(line));
  return lines;
}

std::string redacted(const Traces& traces, const std::string& fixture) {
  const std::string file = traces.directory().path(fixture + "-redacted.sjt");
  CHECK(output_of({"export", traces.path(fixture), "--to", "redacted", "-o", file}).empty());
  return file;
}

using IdMap = std::map<std::pair<std::string, std::uint64_t>, std::uint64_t>;

// Removes the ids of a journey or event, and notes which became which.
void take_ids(json& was, json& is, IdMap& known) {
  REQUIRE(was["ids"].size() == is["ids"].size());
  for (const auto& [name, value] : was["ids"].items()) {
    REQUIRE(is["ids"].contains(name));
    const auto before = value.get<std::uint64_t>();
    const auto after = is["ids"][name].get<std::uint64_t>();
    CAPTURE(name, before);
    CHECK(known.try_emplace({name, before}, after).first->second == after);
  }
  was.erase("ids");
  is.erase("ids");
}

void is_the_same_but_for_ids(const std::string& fixture) {
  const Traces traces;
  auto was = journeys(traces.path(fixture));
  const std::string file = redacted(traces, fixture);
  auto is = journeys(file);
  REQUIRE(was.size() > 3);
  REQUIRE(is.size() == was.size());
  IdMap known;
  for (std::size_t at = 0; at < was.size(); ++at) {
    for (std::size_t event = 0; event < was[at]["events"].size(); ++event)
      take_ids(was[at]["events"][event], is[at]["events"][event], known);
    take_ids(was[at], is[at], known);
    CHECK(is[at] == was[at]);
  }
  std::set<std::uint64_t> rntis;
  std::size_t all = 0;
  std::size_t changed = 0;
  for (const auto& [id, after] : known) {
    const auto& [name, before] = id;
    if (name.ends_with("sn") || name == "so" || name == "slot") CHECK(after == before);
    changed += after != before ? 1 : 0;  // chance may give an id its own number
    if (name != "rnti") continue;
    ++all;
    rntis.insert(after);
  }
  CHECK(changed > 0);
  CHECK(all > 0);
  CHECK(rntis.size() == all);

  json report = json::parse(output_of({"report", traces.path(fixture), "--json"}));
  json of_redacted = json::parse(output_of({"report", file, "--json"}));
  CHECK(of_redacted["redacted"] == true);
  CHECK(of_redacted["journeys"] == report["journeys"]);
  CHECK(of_redacted["hops"] == report["hops"]);
  CHECK(of_redacted["queues"] == report["queues"]);
  CHECK(of_redacted["ledger"] == report["ledger"]);
  CHECK(output_of({"report", file}).contains("redacted: ids and names were replaced"));
}

TEST_CASE("a redacted trace has the journeys and latencies of the original") {
  is_the_same_but_for_ids("radio");
}

TEST_CASE("a redacted trace with losses has the journeys and losses of the original") {
  is_the_same_but_for_ids("lossy");
}

TEST_CASE("the key is another one each time") {
  const Traces traces;
  const auto once = journeys(redacted(traces, "radio"));
  const auto again = journeys(redacted(traces, "radio"));
  REQUIRE(once.size() == again.size());
  bool differs = false;
  for (std::size_t at = 0; at < once.size(); ++at) differs |= once[at]["ids"] != again[at]["ids"];
  CHECK(differs);
}

TEST_CASE("redaction needs a page") {
  const Traces traces;
  const test::Ended ended = sojourn({"report", traces.path("radio"), "--redact"});
  CHECK(ended.exit_code == 2);
  CHECK(ended.err.contains("--html"));
  const test::Ended other =
      sojourn({"export", traces.path("radio"), "--to", "redacted", "--where", "rnti == 5"});
  CHECK(other.exit_code == 2);
  CHECK(other.err.contains("--where"));
}

}  // namespace
}  // namespace sojourn::cli_tests
