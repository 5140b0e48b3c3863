// `sojourn` without arguments, beside processes that can be traced and others.
#include <algorithm>
#include <chrono>
#include <filesystem>
#include <memory>
#include <vector>

#include <catch2/catch_test_macros.hpp>
#include <fmt/format.h>
#include <nlohmann/json.hpp>
#include <unistd.h>

#include "tests/live/programs.h"

namespace sojourn::live {
namespace {

using nlohmann::json;

// The row of a table that begins with that process id, or an empty text. Columns are two spaces
// apart, however long the names of other tests' processes are.
std::string row_of(const std::string& screen, pid_t pid) {
  for (std::size_t begin = 0; begin < screen.size();) {
    const std::size_t end = std::min(screen.find('\n', begin), screen.size());
    std::string line = screen.substr(begin, end - begin);
    const std::size_t word = line.find_first_not_of(' ');
    if (line.starts_with("  ") && word != std::string::npos &&
        line.substr(word).starts_with(std::to_string(pid) + "  ")) {
      for (auto at = line.find("   "); at != std::string::npos; at = line.find("   "))
        line.erase(at, 1);
      return line;
    }
    begin = end + 1;
  }
  return {};
}

TEST_CASE("the first screen has the base station, and not a process without points") {
  need_root();
  Station station;
  test::Child sleeper({"/bin/sleep", "60"});
  const std::string screen = sojourn_done({});
  INFO(screen);
  CHECK(row_of(screen, station.pid())
            .ends_with(fmt::format("sj-basestation  {} points",
                                   points_of(station.pid()).schema.points.size())));
  CHECK(row_of(screen, sleeper.pid()).empty());
  CHECK(screen.contains("\n  sojourn record -p "));
  CHECK_FALSE(screen.contains("took too long"));
  CHECK(station.running());
}

TEST_CASE("doctor lists the processes that can be traced here") {
  need_root();
  Station station;
  const json processes = json::parse(sojourn_done({"doctor", "--json"})).at("processes");
  INFO(processes.dump(2));
  const auto found = std::ranges::find_if(
      processes, [&](const json& one) { return one.at("pid") == station.pid(); });
  REQUIRE(found != processes.end());
  CHECK(found->at("program") == "sj-basestation");
  CHECK(found->at("points") == points_of(station.pid()).schema.points.size());
  CHECK(found->at("map") == "");
  CHECK(found->at("closed") == false);
}

TEST_CASE("a program of a ready map's name is listed with the map, and record names it, too") {
  need_root();
  const test::TemporaryDirectory directory;
  const std::string program = directory.path("osmo-bts-trx");
  std::filesystem::copy_file("/bin/sleep", program);
  test::Child renamed({program, "60"});
  const std::string screen = sojourn_done({});
  INFO(screen);
  CHECK(row_of(screen, renamed.pid()).ends_with("osmo-bts-trx  ready map osmo-bts"));
  CHECK(screen.contains(" --map osmo-bts --for 10s -o run.sjt\n"));
  const test::Ended ended =
      sojourn({"record", "-p", std::to_string(renamed.pid()), "-o", directory.path("run.sjt")});
  CHECK(ended.exit_code == 1);
  CHECK(ended.err.contains("--map osmo-bts is the ready map of this program"));
}

TEST_CASE("three hundred processes are looked at within the time that the screen has") {
  need_root();
  Station station;
  std::vector<std::unique_ptr<test::Child>> sleepers;
  for (int count = 0; count < 300; ++count)
    sleepers.push_back(
        std::make_unique<test::Child>(std::vector<std::string>{"/bin/sleep", "120"}));
  const auto begin = std::chrono::steady_clock::now();
  const std::string screen = sojourn_done({});
  const auto took = std::chrono::steady_clock::now() - begin;
  INFO(std::chrono::duration_cast<std::chrono::milliseconds>(took).count() << " ms");
  CHECK_FALSE(row_of(screen, station.pid()).empty());
  CHECK_FALSE(screen.contains("took too long"));
  CHECK(took < std::chrono::seconds(2));
}

TEST_CASE("without root the first screen names the processes that were not examined") {
  need_root();
  Station station;
  const test::Ended ended =
      test::run({"setpriv", "--reuid", "65534", "--regid", "65534", "--clear-groups", SJ_SOJOURN});
  INFO(ended.out << ended.err);
  REQUIRE(ended.exit_code == 0);
  CHECK(row_of(ended.out, station.pid()).empty());
  CHECK(ended.out.contains(", closed to this user: run as root."));
  CHECK(ended.out.contains("No rights to eBPF"));
}

}  // namespace
}  // namespace sojourn::live
