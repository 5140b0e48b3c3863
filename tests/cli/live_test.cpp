// `sojourn live` on traces, complete ones and growing ones: its figures agree with `sojourn
// report`.
#include <algorithm>
#include <chrono>
#include <cmath>
#include <csignal>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <thread>
#include <vector>

#include <catch2/catch_test_macros.hpp>
#include <fcntl.h>
#include <fmt/format.h>
#include <nlohmann/json.hpp>
#include <sys/file.h>
#include <unistd.h>

#include "tests/cli/programs.h"

namespace sojourn::cli_tests {
namespace {

using nlohmann::json;

std::vector<json> objects_of(const std::string& text) {
  std::vector<json> objects;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) objects.push_back(json::parse(line));
  return objects;
}

bool is_near(const json& found, const json& exact) {
  return std::abs(found.get<double>() - exact.get<double>()) <= 0.001 * exact.get<double>() + 0.001;
}

void check_times(const json& found, const json& exact) {
  for (const char* const name : {"p50", "p90", "p99", "p999"}) {
    CAPTURE(name, found[name], exact[name]);
    CHECK(is_near(found[name], exact[name]));
  }
  CHECK(std::abs(found["max"].get<double>() - exact["max"].get<double>()) < 1e-6);
}

// The last object of a view, and the report of the same trace.
void check_agrees(const json& live, const json& report) {
  CHECK(live["ended"] == true);
  CHECK(live["events"] == report["events"]);
  CHECK(live["left_out"] == 0);
  for (const char* const dir : {"D", "U"}) {
    CAPTURE(dir);
    if (report["journeys"][dir]["count"] == 0) continue;
    const json& mine = live["journeys"][dir];
    CHECK(mine["complete"] == report["journeys"][dir]["complete"]);
    check_times(mine["all"]["latency_us"], report["journeys"][dir]["latency_us"]);
  }
  for (const json& queue : live["queues"]) {
    const auto same = std::ranges::find_if(report["queues"], [&](const json& one) {
      return one["name"] == queue["name"] && one["dir"] == queue["dir"];
    });
    REQUIRE(same != report["queues"].end());
    CAPTURE(queue["name"]);
    CHECK(queue["max"] == (*same)["max"]);
  }
}

TEST_CASE("the end of a complete trace agrees with the report") {
  const Traces traces;
  const std::string trace = traces.path("radio");
  const auto objects = objects_of(output_of({"live", trace, "--json"}));
  REQUIRE_FALSE(objects.empty());
  check_agrees(objects.back(), json::parse(output_of({"report", trace, "--json"})));
  CHECK(std::ranges::count_if(objects, [](const json& one) { return one["ended"] == true; }) == 1);
  CHECK_FALSE(objects.back()["worst"].empty());
  CHECK(objects.back()["worst"][0]["why"].get<std::string>().contains(" in "));
}

TEST_CASE("a text of a complete trace is its end, one for each interval where they are asked for") {
  const Traces traces;
  const std::string trace = traces.path("radio");
  const std::string text = output_of({"live", trace});
  CHECK(text.contains("since the start"));
  CHECK(text.contains("where they spend it"));
  CHECK(text.contains("the slowest, last"));
  CHECK(text.contains("0 lost"));
  CHECK_FALSE(text.contains("\033"));
  CHECK(output_of({"live", traces.path("lossy")}).contains("ring full"));
}

TEST_CASE("a filter in live selects the same as in the report") {
  const Traces traces;
  const std::string trace = traces.path("radio");
  const std::string where = "dir == D && latency > 100us";
  const auto objects = objects_of(output_of({"live", trace, "--json", "--filter", where}));
  const json report = json::parse(output_of({"report", trace, "--json", "--where", where}));
  CHECK(objects.back()["filter"] == where);
  CHECK(objects.back()["journeys"]["D"]["complete"] == report["journeys"]["D"]["complete"]);
  CHECK(report["journeys"]["D"]["complete"] > 0);
  CHECK(sojourn({"live", trace, "--filter", "nosuchfield == 1"}).exit_code == 1);
  require_error(sojourn({"live", traces.directory().path("none.sjt")}), "none.sjt");
  CHECK(sojourn({"live", trace, "--filter", "dir ="}).exit_code == 2);
}

TEST_CASE("a trace or a process is wanted, and one of them") {
  const Traces traces;
  CHECK(sojourn({"live"}).exit_code == 2);
  CHECK(sojourn({"live", traces.path("radio"), "-p", "1"}).exit_code == 2);
  CHECK(sojourn({"live", traces.path("radio"), "--interval", "1ms"}).exit_code == 2);
  CHECK(sojourn({"live", traces.path("radio"), "--window", "1h"}).exit_code == 2);
}

TEST_CASE("a file that grows is followed to its end") {
  const Traces traces;
  const std::string bytes = test::contents(traces.path("radio"));
  const std::string growing = traces.directory().path("growing.sjt");
  test::write_contents(growing, bytes.substr(0, 10));
  test::Child view({SJ_SOJOURN, "live", growing, "--json"});
  std::ofstream file(growing, std::ios::binary | std::ios::app);
  for (std::size_t at = 10; at < bytes.size(); at += bytes.size() / 8) {
    file << bytes.substr(at, bytes.size() / 8) << std::flush;
    std::this_thread::sleep_for(std::chrono::milliseconds(30));
    if (at + bytes.size() / 8 < bytes.size()) CHECK(view.running());
  }
  const test::Ended ended = view.wait();
  CAPTURE(ended.err);
  CHECK(ended.exit_code == 0);
  check_agrees(objects_of(ended.out).back(),
               json::parse(output_of({"report", traces.path("radio"), "--json"})));
}

TEST_CASE("a file is found by the name that it will have") {
  const Traces traces;
  const std::string bytes = test::contents(traces.path("radio"));
  const std::string name = traces.directory().path("soon.sjt");
  test::write_contents(name + ".partial", bytes);
  CHECK(objects_of(output_of({"live", name, "--json"})).back()["ended"] == true);
}

// 3,000 packets of 4 events, as an imported trace.
std::string imported_bytes(const test::TemporaryDirectory& directory) {
  std::string lines;
  for (int packet = 0; packet < 3000; ++packet) {
    int us = 350 * packet;
    for (const char* const point : {"in--a", "a--b", "b--c", "c--out"}) {
      lines += fmt::format("{}.{:06} D {} len100:rnti{}:sn{}\n", 1 + us / 1'000'000, us % 1'000'000,
                           point, packet % 4 + 1, packet);
      us += 20;
    }
  }
  test::write_contents(directory.path("made.lseq"), lines);
  const std::string trace = directory.path("made.sjt");
  REQUIRE(sojourn({"import", directory.path("made.lseq"), "-o", trace}).exit_code == 0);
  return test::contents(trace);
}

TEST_CASE("a file that nobody writes is waited for aloud, and not for ever") {
  const test::TemporaryDirectory directory;
  const std::string bytes = imported_bytes(directory);
  const auto file = [&](const std::string& name, const std::string& text) {
    test::write_contents(directory.path(name), text);
    return directory.path(name);
  };
  const std::string empty = file("empty.sjt", "");
  const std::string cut = file("cut.sjt", bytes.substr(0, 400));
  const std::string killed = file("killed.sjt", bytes.substr(0, bytes.size() * 6 / 10));
  test::Child of_empty({SJ_SOJOURN, "live", empty, "-n", "1"});
  test::Child of_cut({SJ_SOJOURN, "live", cut, "-n", "1"});
  test::Child of_killed({SJ_SOJOURN, "live", killed, "--plain"});

  const test::Ended from_empty = of_empty.wait();
  CHECK(from_empty.exit_code == 1);
  CHECK(from_empty.out.empty());
  CHECK(from_empty.err == fmt::format("waiting for the begin of {0}\nsojourn: {0}: no sojourn "
                                      "trace: only 0 bytes long\n",
                                      empty));
  const test::Ended from_cut = of_cut.wait();
  CHECK(from_cut.exit_code == 1);
  CHECK(from_cut.err.starts_with("waiting for "));
  CHECK(from_cut.err.ends_with(
      fmt::format("\nsojourn: {}: has no event and no end, and nothing more comes\n", cut)));
  const test::Ended from_killed = of_killed.wait();
  CAPTURE(from_killed.err);
  CHECK(from_killed.exit_code == 0);
  CHECK(from_killed.out.contains("12,000 events"));
  CHECK(from_killed.err == fmt::format("{}: has no end, and nothing more comes: this is what there "
                                       "is\n",
                                       killed));
}

TEST_CASE("a file that a writer of traces holds is waited for") {
  const test::TemporaryDirectory directory;
  const std::string path = directory.path("held.sjt");
  test::write_contents(path, "");
  const int held = open(path.c_str(), O_RDONLY | O_CLOEXEC);
  REQUIRE(held >= 0);
  REQUIRE(flock(held, LOCK_EX | LOCK_NB) == 0);
  test::Child view({SJ_SOJOURN, "live", path, "--plain"});
  std::this_thread::sleep_for(std::chrono::seconds(5));
  CHECK(view.running());
  close(held);
  const test::Ended ended = view.wait();
  CHECK(ended.exit_code == 1);
  CHECK(ended.err.contains("only 0 bytes long"));
}

TEST_CASE("a view of a file ends in order when it is interrupted") {
  const Traces traces;
  const std::string growing = traces.directory().path("growing.sjt");
  test::write_contents(growing, test::contents(traces.path("radio")).substr(0, 400));
  test::Child view({SJ_SOJOURN, "live", growing, "--plain"});
  std::this_thread::sleep_for(std::chrono::milliseconds(300));
  view.signal(SIGTERM);
  CHECK(view.wait().exit_code == 0);
}

}  // namespace
}  // namespace sojourn::cli_tests
