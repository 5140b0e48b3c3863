// The screen of `sojourn` without arguments, for different programs and users.
#include "userspace/doctor/traceable.h"

#include <catch2/catch_test_macros.hpp>

#include "tests/unit/doctor/golden.h"
#include "tests/unit/doctor/machines.h"

namespace sojourn::doctor {
namespace {

const std::vector<ProgramMap> kMaps = {{"nr-softmodem", "oai-gnb"},
                                       {"osmo-bts-virtual", "osmo-bts"}};

HostFacts without_rights() {
  HostFacts facts = virtual_machine();
  facts.capabilities = 0;
  return facts;
}

TEST_CASE("programs with points come before those with a map, each with its command") {
  tracee::RunningPrograms programs;
  programs.found = {{.pid = 77, .name = "osmo-bts-virtual"},
                    {.pid = 812, .name = "nr-softmodem", .points = 34},
                    {.pid = 4242, .name = "station", .points = 1, .library = "libmac.so.1"},
                    {.pid = 5000, .name = "sleep"}};
  const auto surroundings = judge_machine(programs, kMaps, virtual_machine());
  compare("traceable.txt", traceable_text(surroundings));
  compare("traceable.json", traceable_json(surroundings).dump(2) + "\n");
}

TEST_CASE("without rights the command needs them, and the unseen parts are named") {
  tracee::RunningPrograms programs;
  programs.found = {{.pid = 77, .name = "osmo-bts-virtua", .is_closed = true},
                    {.pid = 80, .name = "osmo-bts-trx", .is_closed = true}};
  programs.closed = 151;
  const auto surroundings = judge_machine(programs, kMaps, without_rights());
  compare("traceable_closed.txt", traceable_text(surroundings));
  REQUIRE(surroundings.traceable.size() == 1);
  CHECK(surroundings.traceable[0].map == "osmo-bts");
}

TEST_CASE("if nothing can be traced yet, the ways to begin are named") {
  tracee::RunningPrograms programs;
  programs.is_in_time = false;
  programs.hides_others = true;
  programs.closed = 1;
  compare("traceable_nothing.txt",
          traceable_text(judge_machine(programs, kMaps, virtual_machine())));
}

TEST_CASE("many processes are a few lines, and their names cannot write to the terminal") {
  tracee::RunningPrograms programs;
  for (pid_t pid = 10; pid < 40; ++pid)
    programs.found.push_back(
        {.pid = pid, .name = "red\x1b[31m", .points = 2, .has_more_points = true});
  const std::string text = traceable_text(judge_machine(programs, kMaps, virtual_machine()));
  CHECK(text.contains("\n   19  red\\x1b[31m  more than 2 points\n"));
  CHECK_FALSE(text.contains("\n   20  "));
  CHECK(text.contains("and 20 more"));
  CHECK_FALSE(text.contains('\x1b'));
}

}  // namespace
}  // namespace sojourn::doctor
