// Back-pressure that is known from the events of queues alone, with the names of their threads
// although the kernel context was not recorded.
#include <algorithm>
#include <cstdlib>
#include <string>
#include <vector>

#include <catch2/catch_test_macros.hpp>
#include <nlohmann/json.hpp>

#include "tests/live/programs.h"

namespace sojourn::live {
namespace {

using nlohmann::json;

struct Recorded {
  test::TemporaryDirectory directory;
  std::string trace = directory.path("run.sjt");

  explicit Recorded(const std::vector<std::string>& options = {}) {
    test::Child target({SJ_SUBJECT_PRESSURE});
    REQUIRE(target.wait_for_ready_line() == "ready\n");
    std::vector<std::string> record = {"record", "-p",       std::to_string(target.pid()),
                                       "--for",  "3500ms",   "-o",
                                       trace,    "--engine", "ring"};
    record.insert(record.end(), options.begin(), options.end());
    const test::Ended ended = sojourn(record);
    INFO(ended.err);
    REQUIRE(ended.exit_code == 0);
  }
};

TEST_CASE("a stage that stops fills the queues before it one after the other: one chain") {
  const Recorded run;
  const json queues = json::parse(sojourn_done({"queues", run.trace, "--json"}));
  REQUIRE(queues["operations"].size() == 3);
  INFO(queues["pressure"].dump(1));
  // There are at least two stops. The rate of items depends on other programs that use the
  // processor.
  std::size_t chains = 0;
  for (const json& chain : queues["pressure"]) {
    if (chain.size() != 3) continue;
    ++chains;
    std::vector<std::string> stages;
    for (const json& episode : chain) {
      stages.push_back(episode["stage"]);
      CHECK(episode["peak"] >= 8);
    }
    CHECK(stages == std::vector<std::string>{"slow-end", "middle-2", "middle-1"});
    CHECK(chain[0]["begin_ns"] < chain[1]["begin_ns"]);
    CHECK(chain[1]["begin_ns"] < chain[2]["begin_ns"]);
    CHECK(chain[2]["begin_ns"] < chain[0]["end_ns"]);
  }
  CHECK(chains >= 1);
  CHECK(sojourn_done({"queues", run.trace}).contains("  slow-end <- queue "));
}

TEST_CASE("with samples the chain has the queues' names, once") {
  const Recorded run({"--queues"});
  // From the events of their operations, and from the samples; only the events show which thread
  // drains them.
  for (const std::vector<std::string>& options : {std::vector<std::string>{"--places"}, {}}) {
    std::vector<std::string> words = {"queues", run.trace, "--json"};
    words.insert(words.end(), options.begin(), options.end());
    const json queues = json::parse(sojourn_done(words));
    INFO(queues["pressure"].dump(1));
    std::size_t chains = 0;
    for (const json& chain : queues["pressure"]) {
      if (chain.size() != 3) continue;
      ++chains;
      CHECK(chain[0]["queue"] == "third");
      CHECK(chain[0]["stage"] == "slow-end");
      CHECK(chain[1]["queue"] == "second");
      CHECK(chain[2]["queue"] == "first");
    }
    CHECK(chains >= 1);
  }
  const std::string graph = sojourn_done({"queues", run.trace, "--dot"});
  INFO(graph);
  CHECK(graph.contains("label=\"slow-end\""));
  CHECK(!graph.contains("unknown"));
  const std::string topology = sojourn_done({"queues", run.trace, "--topology"});
  INFO(topology);
  CHECK(topology.contains("middle-2 -> slow-end  "));
  CHECK(topology.contains("->  third   ->  slow-end    second"));
}

TEST_CASE("samples of several queues agree with the events of each, while they fill and empty") {
  const Recorded run({"--queues", "200us"});
  const json told = json::parse(sojourn_done({"queues", run.trace, "--verify", "--json"}));
  CHECK(told["verify"]["discrepancies"].empty());
  REQUIRE(told["verify"]["queues"].size() == 3);
  for (const json& queue : told["verify"]["queues"]) {
    INFO(queue.dump(1));
    CHECK(queue["compared"] > 100);
    CHECK(queue["different"] == 0);
    // But for one that was under way at the first or the last sample.
    for (const std::string what : {"in_by_", "out_by_"})
      CHECK(std::abs(queue[what + "events"].get<long>() - queue[what + "counters"].get<long>()) <=
            1);
  }
}

TEST_CASE("threads have their names without the kernel's context") {
  const Recorded run;
  const json told = json::parse(sojourn_done({"report", run.trace, "--by", "thread", "--json"}));
  REQUIRE(told["groups"].size() == 4);
  std::vector<std::string> names;
  for (const json& group : told["groups"]) {
    const std::string name = group["name"];
    names.push_back(name.substr(0, name.find(' ')));
  }
  for (const char* const name : {"slow-end", "middle-1", "middle-2"})
    CHECK(std::ranges::count(names, name) == 1);
  // The trace has no kernel context.
  CHECK(open_trace(run.trace).context().families.empty());
}

}  // namespace
}  // namespace sojourn::live
