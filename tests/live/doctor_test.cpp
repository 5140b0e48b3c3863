// `sojourn doctor` on this machine, and its measurements: structure and order, not times.
#include <algorithm>

#include <catch2/catch_test_macros.hpp>
#include <nlohmann/json.hpp>

#include "tests/live/programs.h"

namespace sojourn::live {
namespace {

using nlohmann::json;

json doctor(std::vector<std::string> arguments = {}) {
  arguments.insert(arguments.begin(), {"doctor", "--json"});
  return json::parse(sojourn_done(std::move(arguments)));
}

json check_of(const json& diagnosis, const std::string& id) {
  const auto& checks = diagnosis["checks"];
  const auto found =
      std::ranges::find_if(checks, [&](const json& check) { return check["id"] == id; });
  INFO(diagnosis.dump(2));
  REQUIRE(found != checks.end());
  return *found;
}

TEST_CASE("where probes can be attached, doctor finds that recording will work") {
  need_root();
  const json diagnosis = doctor();
  CHECK(diagnosis["works"] == true);
  CHECK(diagnosis["engines"]["bpf"]["works"] == true);
  const json uprobes = check_of(diagnosis, "uprobes");
  CHECK(uprobes["counts_threads"] == true);
  CHECK(uprobes["counts_others"] == false);
}

TEST_CASE("the form of nop that points have is found safe") {
  need_root();
  const json plain = check_of(doctor(), "nops")["nops"].at(0);
  CHECK(plain["usable"] == true);
  CHECK(plain["keeps_red_zone"] == true);
  CHECK(plain["keeps_children"] == true);
}

TEST_CASE("a hit costs something, and never less with more arguments") {
  need_root();
  const json diagnosis = doctor();
  for (const std::string id : {"bpf_cost", "ring_cost"}) {
    const json costs = check_of(diagnosis, id)["costs"];
    CAPTURE(costs.dump());
    REQUIRE(costs.size() >= 2);
    CHECK(costs.front()["hit_ns"] > 0);
    CHECK(std::ranges::is_sorted(costs, {}, [](const json& at) { return at["hit_ns"]; }));
  }
  CHECK(check_of(diagnosis, "bpf_cost")["stamp_delay_ns"] > 0);
}

TEST_CASE("doctor shows the points of a process, their hit rates and the cost of recording them") {
  need_root();
  Station station;
  const json diagnosis = doctor({"-p", std::to_string(station.pid())});
  const json points = check_of(diagnosis, "points");
  CHECK(points["points"] == points_of(station.pid()).schema.points.size());
  CHECK(points["ring"] == points["points"]);
  const json cost = check_of(diagnosis, "cost");
  CHECK(cost["hits_per_second"] > 1000);
  CHECK(cost["ring_share"] > 0);
  CHECK(cost["bpf_share"] > cost["ring_share"]);
  CHECK(check_of(diagnosis, "refused")["verdict"] == "pass");
  CHECK(check_of(diagnosis, "post_mortem")["core_file"] == true);
  CHECK(station.running());
}

TEST_CASE("doctor shows how a process without points can be recorded") {
  need_root();
  test::Child sleeper({"/bin/sleep", "60"});
  const test::Ended ended = sojourn({"doctor", "--json", "-p", std::to_string(sleeper.pid())});
  CHECK(ended.exit_code == 0);
  const json diagnosis = json::parse(ended.out);
  CHECK(diagnosis["works"] == true);
  CHECK(diagnosis["engines"]["bpf"]["works"] == true);
  CHECK(diagnosis["engines"]["ring"]["works"] == false);
  const json points = check_of(diagnosis, "points");
  CHECK(points["verdict"] == "degraded");
  CHECK(points["advice"].get<std::string>().contains("--auto"));
  CHECK(points["advice"].get<std::string>().contains("--suggest"));
  CHECK_FALSE(check_of(diagnosis, "cost")["finding"].get<std::string>().contains("hit"));
}

}  // namespace
}  // namespace sojourn::live
