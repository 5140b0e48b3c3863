// `sojourn ab` with real recordings: the order of the runs, the processes left behind, the output.
#include <algorithm>
#include <csignal>
#include <filesystem>
#include <string>
#include <vector>

#include <catch2/catch_test_macros.hpp>
#include <nlohmann/json.hpp>

#include "tests/live/programs.h"

namespace sojourn::live {
namespace {

using nlohmann::json;

// A base station of this test alone, so that others that run now are not taken for it.
class OwnStation {
 public:
  OwnStation() { std::filesystem::copy_file(SJ_BASESTATION, path()); }

  std::string path() const { return directory_.path("station"); }
  bool runs() const {
    return std::ranges::any_of(
        std::filesystem::directory_iterator("/proc"), [&](const auto& entry) {
          std::error_code failed;
          const auto program = std::filesystem::read_symlink(entry.path() / "exe", failed);
          return !failed && program == path();
        });
  }

 private:
  test::TemporaryDirectory directory_;
};

TEST_CASE("two commands are recorded in turns, ended after each run, and compared") {
  need_root();
  const test::TemporaryDirectory directory;
  const std::string keep = directory.path("kept");
  const OwnStation station;
  const test::Ended ended =
      sojourn({"ab", "--runs", "2", "--for", "500ms", "--json", "--keep", keep, "--",
               station.path(), "--rate-dl", "1000", "--", station.path(), "--rate-dl", "4000"});
  INFO(ended.err);
  REQUIRE(ended.exit_code == 0);
  CHECK(ended.err.find("run 1 of 4: A") < ended.err.find("run 2 of 4: B"));
  CHECK(ended.err.contains("run 3 of 4: B"));
  CHECK(ended.err.contains("run 4 of 4: A"));
  const json said = json::parse(ended.out);  // it has no output of the commands
  REQUIRE(said["base"].size() == 2);
  REQUIRE(said["new"].size() == 2);
  for (const json& base : said["base"])
    for (const json& other : said["new"]) CHECK(base["events"] < other["events"]);
  for (const char* name : {"a-01.sjt", "a-02.sjt", "b-01.sjt", "b-02.sjt"})
    CHECK(std::filesystem::exists(keep + "/" + name));
  CHECK_FALSE(station.runs());
}

TEST_CASE("ab records on until a difference is certain, and says after each run how certain") {
  need_root();
  const OwnStation station;
  const test::Ended ended = sojourn({"ab", "--until-certain", "--max-runs", "12", "--for", "400ms",
                                     "--json", "--", station.path(), "--rate-dl", "1000", "--",
                                     station.path(), "--rate-dl", "1000", "--slot-us", "4000"});
  INFO(ended.err);
  REQUIRE(ended.exit_code == 0);
  CHECK(ended.err.contains("run 1 of at most 24: A"));
  CHECK(ended.err.contains("surest is "));
  CHECK(ended.err.contains("\ncertain after "));
  const json said = json::parse(ended.out);
  CHECK(said["test"] == "ranks, in turns");
  CHECK(said["base"].size() + said["new"].size() < 24);
  const bool is_changed = std::ranges::any_of(
      said["times"], [](const json& row) { return row["verdict"] == "changed"; });
  CHECK(is_changed);
}

TEST_CASE("ab that is never certain ends after its time or its runs, and says so") {
  need_root();
  const OwnStation station;
  const auto ab = [&](const char* option, const char* value) {
    return sojourn({"ab", "--until-certain", option, value, "--for", "200ms", "--", station.path(),
                    "--rate-dl", "500", "--", station.path(), "--rate-dl", "500"});
  };
  const test::Ended by_runs = ab("--max-runs", "2");
  INFO(by_runs.err);
  CHECK(by_runs.exit_code == 0);
  CHECK(by_runs.err.contains("not certain after 4 runs"));
  CHECK(by_runs.out.contains("too little data"));
  const test::Ended by_time = ab("--max-time", "1ms");
  INFO(by_time.err);
  CHECK(by_time.err.contains("--max-time 1ms is over"));
  CHECK(by_time.err.contains("not certain after 4 runs"));
}

TEST_CASE("two processes are recorded in turns and left running") {
  need_root();
  Station slow({"--rate-dl", "1000"});
  Station fast({"--rate-dl", "4000"});
  const test::Ended ended = sojourn({"ab", "--runs", "2", "--for", "300ms", "--json", "-p",
                                     std::to_string(slow.pid()), "-p", std::to_string(fast.pid())});
  INFO(ended.err);
  REQUIRE(ended.exit_code == 0);
  const json said = json::parse(ended.out);
  CHECK(said["base"][0]["events"] < said["new"][0]["events"]);
  CHECK(slow.running());
  CHECK(fast.running());
}

TEST_CASE("an interrupt ends the run and the programs that it started, and removes the traces") {
  need_root();
  const OwnStation station;
  test::Child child({SJ_SOJOURN, "ab", "--runs", "2", "--for", "60s", "--", station.path(), "--",
                     station.path()});
  while (child.running() && !station.runs()) {
  }
  child.signal(SIGINT);
  const test::Ended ended = child.wait();
  CHECK(ended.exit_code == 1);
  CHECK(ended.err.contains("run 1 of 4 (A): interrupted"));
  CHECK_FALSE(station.runs());
}

}  // namespace
}  // namespace sojourn::live
