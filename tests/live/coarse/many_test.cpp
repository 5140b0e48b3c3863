// A program of 300 functions, probed and unprobed over and over while it runs: it computes the
// same, and its heart beats as it does untraced.
#include <chrono>
#include <csignal>
#include <cstdio>
#include <string>
#include <thread>
#include <vector>

#include <catch2/catch_test_macros.hpp>

#include "tests/live/programs.h"

namespace sojourn::live {
namespace {

struct Heart {
  unsigned beats = 0;
  unsigned missed = 0;
  long long worst_us = 0;
};

TEST_CASE("a program whose 300 functions get and lose probes is not disturbed") {
  need_root();
  const test::TemporaryDirectory directory;
  const std::string map = directory.path("my.toml");
  const std::string trace = directory.path("run.sjt");
  test::Child target({std::string(SJ_COARSE_SUBJECTS) + "/many-O2"});
  REQUIRE(target.wait_for_output("ready"));
  const std::string pid = std::to_string(target.pid());
  const std::string points = "[[point]]\nfunction = 'many::stage_*'\nvalue = 'arg0'\n";
  const std::string spans = "[[span]]\nfunction = 'many::stage_*'\nresult = 'ret'\n";
  // Cheap places only, then all of them, then their ends as well.
  struct Turn {
    std::string map;
    std::vector<std::string> more;
    std::string attached;
  };
  const std::vector<Turn> turns = {
      {points, {}, "attached "},
      {points, {"--allow-slow-sites"}, "attached 300 points at 300 sites"},
      {spans, {"--allow-slow-sites"}, "attached 500 points"},
      {points, {}, "attached "},
      {spans, {"--allow-slow-sites"}, "attached 500 points"},
      {points, {"--allow-slow-sites"}, "attached 300 points at 300 sites"}};
  const auto stop_for_a_while = [] { std::this_thread::sleep_for(std::chrono::milliseconds(700)); };
  for (const Turn& turn : turns) {
    stop_for_a_while();
    test::write_contents(map, turn.map);
    target.signal(SIGUSR1);
    std::vector<std::string> arguments = {"record", "--budget", "none",  "-p", pid,  "--map",
                                          map,      "--for",    "300ms", "-o", trace};
    arguments.insert(arguments.end(), turn.more.begin(), turn.more.end());
    const test::Ended ended = sojourn(arguments);
    CAPTURE(ended.err);
    CHECK(ended.exit_code == 0);
    CHECK(ended.err.contains(turn.attached));
    target.signal(SIGUSR2);
    REQUIRE(target.running());
  }

  target.signal(SIGTERM);
  const test::Ended ended = target.wait();
  CHECK(ended.exit_code == 0);
  CAPTURE(ended.out);
  Heart untraced;
  Heart traced;
  unsigned long long rounds = 0;
  unsigned long long wrong = 0;
  const std::string words = ended.out.substr(ended.out.find("beats"));
  REQUIRE(std::sscanf(words.c_str(),
                      "beats %u missed %u worst_us %lld beats %u missed %u worst_us %lld rounds "
                      "%llu wrong %llu",
                      &untraced.beats, &untraced.missed, &untraced.worst_us, &traced.beats,
                      &traced.missed, &traced.worst_us, &rounds, &wrong) == 8);
  CHECK(wrong == 0);
  CHECK(rounds > 100);
  CHECK(untraced.beats > 100);
  CHECK(traced.beats > 100);
  // Other disturbances by the machine are allowed here too, up to a beat in a hundred.
  CHECK(traced.missed * untraced.beats <=
        2 * untraced.missed * traced.beats + traced.beats * untraced.beats / 100);
}

}  // namespace
}  // namespace sojourn::live
