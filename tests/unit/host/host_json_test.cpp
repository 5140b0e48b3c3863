// A profile as JSON and back, and JSON that is no profile.
#include "analysis/host/host_json.h"

#include <catch2/catch_test_macros.hpp>

#include "tests/unit/host/profiles.h"

namespace sojourn::host {
namespace {

std::string refusal(std::string_view text) {
  const auto read = from_json(text);
  return read ? "it was taken" : read.error().text();
}

TEST_CASE("a profile comes back from its JSON as it was") {
  const HostProfile profile = whole_profile();
  const auto read = from_json(to_json_text(profile));
  REQUIRE(read.has_value());
  CHECK(*read == profile);
}

TEST_CASE("JSON has computed figures beside measured ones") {
  const auto json = to_json(whole_profile());
  const auto& syscall = json.at("measurements").at(0);
  CHECK(syscall.at("predicted") == 60.0);
  CHECK(syscall.at("deviation").get<double>() > 0.35);
  CHECK(syscall.at("stable") == false);
  CHECK(json.at("measurements").at(1).at("measured").is_null());
  CHECK(json.at("measurements").at(1).at("stable") == false);
  CHECK(json.at("measurements").at(2).at("unit") == "B/s");
}

TEST_CASE("members that are not known are skipped") {
  auto json = to_json(whole_profile());
  json["later"] = {1, 2, 3};
  json["measurements"][0]["later"] = "word";
  const auto read = from_json(json.dump());
  REQUIRE(read.has_value());
  CHECK(*read == whole_profile());
}

TEST_CASE("an invalid profile is refused with the reason") {
  CHECK(refusal("").contains("no JSON"));
  CHECK(refusal("{\"measurements\": [").contains("no JSON"));
  CHECK(refusal("[]").contains("not an object"));
  CHECK(refusal("{}").contains("no measurements in it"));
  CHECK(refusal(R"({"measurements": 7})").contains("\"measurements\" is not a list"));
  CHECK(refusal(R"({"measurements": [7]})").contains("not an object"));
  CHECK(refusal(R"({"measurements": [{"unit": "ns"}]})").contains("has no id"));
  CHECK(refusal(R"({"measurements": [{"id": "a", "unit": "miles"}]})")
            .contains("\"miles\" is no unit"));
  CHECK(refusal(R"({"measurements": [{"id": 7, "unit": "ns"}]})").contains("\"id\" is not text"));
  CHECK(refusal(R"({"measurements": [], "measured_at_s": -1})").contains("not a whole number"));
  CHECK(refusal(R"({"measurements": [{"id": "a", "unit": "ns", "measured": {"median": "x"}}]})")
            .contains("\"median\" is not a number"));
  CHECK(refusal(R"({"measurements": [{"id": "a", "unit": "ns", "less_is_better": 1}]})")
            .contains("not true or false"));
}

TEST_CASE("a matrix has a value for each pair of CPUs") {
  CHECK(refusal(R"({"measurements": [], "matrices": [
      {"id": "m", "unit": "ns", "cpus": [0, 1], "values": [1, 2, 3]}]})")
            .contains("3 values for 2 CPUs"));
  CHECK(refusal(R"({"measurements": [], "matrices": [
      {"id": "m", "unit": "ns", "cpus": ["x"], "values": [1]}]})")
            .contains("a CPU is no number"));
}

}  // namespace
}  // namespace sojourn::host
