// Proposals for unknown programs: a map to begin with, and ready maps.
#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <map>
#include <sstream>
#include <string>
#include <utility>

#include <catch2/catch_test_macros.hpp>
#include <nlohmann/json.hpp>

#include "tests/live/coarse/subject.h"

namespace sojourn::live {
namespace {

using nlohmann::json;

// By function, the remark in the line above it; "idle" for functions that were not called.
std::map<std::string, std::string> proposed(const std::string& map) {
  std::map<std::string, std::string> found;
  std::istringstream in(map);
  std::string comment;
  bool is_idle = false;
  bool is_span = false;
  for (std::string line; std::getline(in, line);) {
    is_idle = is_idle || line.starts_with("# Not called");
    is_span = is_span || line.starts_with("# How long");
    if (const auto at = line.find("calls a second"); at != std::string::npos) comment = line;
    const auto name = line.find("function = \"");
    if (name != std::string::npos && is_span) continue;
    if (name != std::string::npos)
      found[line.substr(name + 12, line.rfind('"') - name - 12)] = comment;
    else if (is_idle && line.starts_with("# "))
      found[line.substr(2)] = "idle";
  }
  return found;
}

// The lines that say where a path begins and ends.
std::size_t paths_in(const std::string& map) {
  std::istringstream in(map);
  std::size_t paths = 0;
  for (std::string line; std::getline(in, line);)
    paths += line.starts_with("#   ") && line.contains(" -> ") ? 1 : 0;
  return paths;
}

TEST_CASE("a proposed map names what looks like the data path and how often it is called") {
  need_root();
  const test::TemporaryDirectory directory;
  test::Child target({coarse_path("queues-O0")});
  REQUIRE(target.wait_for_output("ready"));
  const std::string pid = std::to_string(target.pid());
  const std::string text = sojourn_done({"list", "-p", pid, "--suggest"});
  CAPTURE(text);
  const auto found = proposed(text);
  for (const char* name : {"ring_put", "ring_get", "stack_push", "stack_pop"}) {
    CAPTURE(name);
    REQUIRE(found.contains(name));
    REQUIRE(found.at(name).starts_with("# "));
    CHECK(std::stoul(found.at(name).substr(2)) > 100);
  }
  CHECK_FALSE(found.contains("main"));
  // Objects are followed by their addresses from the function that stores them to the one that
  // returns them.
  CHECK(found.at("ring_put").contains("arg1 is passed on"));
  CHECK(found.at("ring_get").contains("*(u64*)arg0 was given to ring_put before"));
  CHECK(found.at("stack_pop").contains("*(u64*)arg0 was given to stack_push before"));
  CHECK(text.contains("#   ring_put -> ring_get, 2 functions\n"));
  CHECK(text.contains("#   stack_push -> stack_pop, 2 functions\n"));

  // The proposal is a complete map.
  const std::string map = directory.path("my.toml");
  const std::string trace = directory.path("run.sjt");
  test::write_contents(map, text);
  const test::Ended ended =
      sojourn({"record", "-p", pid, "--map", map, "--for", "200ms", "-o", trace});
  CAPTURE(ended.err);
  REQUIRE(ended.exit_code == 0);
  const json report = json::parse(sojourn_done({"report", "--json", trace}));
  CHECK(report.at("events").get<std::uint64_t>() > 100);
  CHECK(report.at("journeys").at("D").at("complete").get<std::uint64_t>() > 100);
  CHECK(report.at("journeys").at("D").at("ambiguous") == 0);
  // A queue has as many in it as there were: 5, 2 and 3.
  for (const auto& [place, most] : {std::pair("ring_put", 7), std::pair("stack_push", 3)}) {
    CAPTURE(place);
    const json& places = report.at("queues");
    const auto found_place =
        std::ranges::find_if(places, [&](const json& one) { return one.at("name") == place; });
    REQUIRE(found_place != places.end());
    CHECK(found_place->at("max") == most);
  }
  CHECK(target.running());
}

// The packets are buffers that are passed by handles on the stack, and the program keeps some of
// them. The addresses do not show which buffer is which.
TEST_CASE("a map proposed for a gNB records as it stands, and says what it could not find out") {
  need_root();
  const test::TemporaryDirectory directory;
  test::Child target({coarse_path("gnb-O2")});
  REQUIRE(target.wait_for_output("ready"));
  const std::string pid = std::to_string(target.pid());
  const std::string map = directory.path("my.toml");
  const std::string trace = directory.path("run.sjt");
  const test::Ended ended = sojourn({"list", "-p", pid, "--suggest"});
  CAPTURE(ended.err);
  REQUIRE(ended.exit_code == 0);
  const std::string& text = ended.out;
  CAPTURE(text);
  CHECK(text.contains("pdcp_entity_tx::handle_sdu"));
  const std::size_t paths = paths_in(text);
  CHECK(text.contains("there is no path") == (paths == 0));
  CHECK(text.contains("paths, or pieces of fewer") == (paths > 1));
  CHECK(ended.err.contains(paths == 0   ? "the map has no path"
                           : paths == 1 ? "on one path"
                                        : "on " + std::to_string(paths) + " paths"));
  CHECK(text.contains("say of the\n# others from where a unit comes and where it goes"));
  test::write_contents(map, text);
  sojourn_done({"record", "-p", pid, "--map", map, "--for", "500ms", "-o", trace});
  const json report = json::parse(sojourn_done({"report", "--json", trace}));
  CHECK(report.at("events").get<std::uint64_t>() > 100);
  CHECK(target.running());
}

TEST_CASE("a function that is called without end is not proposed, one that is called seldom is") {
  need_root();
  test::Child target({coarse_path("hot-O0")});
  REQUIRE(target.wait_for_output("ready"));
  const test::Ended ended =
      sojourn({"list", "-p", std::to_string(target.pid()), "--suggest", "--for", "4s"});
  CAPTURE(ended.err);
  REQUIRE(ended.exit_code == 0);
  const std::string& text = ended.out;
  CAPTURE(text);
  const auto found = proposed(text);
  REQUIRE(found.contains("rlc_poll_rx_queue"));
  CHECK(found.at("rlc_poll_rx_queue").contains("too many"));
  CHECK(text.contains("# function = \"rlc_poll_rx_queue\""));
  REQUIRE(found.contains("rlc_send_pdu"));
  CHECK_FALSE(found.at("rlc_send_pdu").contains("too many"));
  REQUIRE(found.contains("rlc_send_status_pdu"));
  CHECK(found.at("rlc_send_status_pdu") == "idle");
  CHECK(text.contains("# Not called in 4."));
  CHECK(ended.err.contains("not called in 100 ms: watched on, for 4.0 s at most"));
  // The function is called once in 1.5 s, so a short look would miss it.
  REQUIRE(found.contains("rlc_reassemble_rx_frame"));
  CHECK(found.at("rlc_reassemble_rx_frame").contains("calls a second"));
  CHECK(std::stod(found.at("rlc_reassemble_rx_frame").substr(2)) > 0.1);
  CHECK(std::stod(found.at("rlc_reassemble_rx_frame").substr(2)) < 2);
  CHECK(target.running());
}

TEST_CASE("options that exclude --suggest are reported") {
  need_root();
  CHECK(sojourn({"list", coarse_path("queues-O0"), "--suggest"}).exit_code == 2);
  CHECK(sojourn({"list", "-p", "1", "--suggest", "--json"}).exit_code == 2);
  CHECK(sojourn({"list", "-p", "1", "--for", "1s"}).exit_code == 2);
  CHECK(sojourn({"list", "-p", "1", "--suggest", "--for", "soon"}).exit_code == 2);
  test::Child target({"/bin/sleep", "60"});
  const test::Ended ended = sojourn({"list", "-p", std::to_string(target.pid()), "--suggest"});
  CAPTURE(ended.err);
  CHECK(ended.exit_code == 1);
  CHECK(ended.err.contains("looks like a data path"));
  CHECK(ended.out.empty());
}

TEST_CASE(
    "a map that is ready is found by its name, and one that does not fit says why, point by "
    "point") {
  need_root();
  test::Child target({coarse_path("queues-O0")});
  REQUIRE(target.wait_for_output("ready"));
  const std::string pid = std::to_string(target.pid());
  const test::Ended ended = sojourn({"list", "-p", pid, "--map", "oai-gnb"});
  CAPTURE(ended.err);
  CHECK(ended.exit_code == 1);
  CHECK(ended.err.contains("oai-gnb.toml:"));
  CHECK(ended.err.contains("no function 'sdap_data_req'"));
  CHECK(ended.err.contains("no function 'nr_rx_sdu'"));
  CHECK(ended.err.contains("none of the map's functions can be traced"));
  const test::Ended unknown = sojourn({"list", "-p", pid, "--map", "oai-gnp"});
  CHECK(unknown.exit_code == 1);
  CHECK(unknown.err.contains("oai-gnb"));
}

}  // namespace
}  // namespace sojourn::live
