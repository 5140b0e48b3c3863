// Faults that are planted in the base station, named by `sojourn explain`.
#include <algorithm>
#include <csignal>
#include <optional>
#include <string>
#include <vector>

#include <catch2/catch_test_macros.hpp>
#include <nlohmann/json.hpp>
#include <sys/resource.h>

#include "tests/live/programs.h"

namespace sojourn::live {
namespace {

using nlohmann::json;

// A base station with a fault, recorded with context for a while.
class Faulty {
 public:
  explicit Faulty(std::vector<std::string> options,
                  const std::string& context = "sched,irq,syscalls") {
    need_root();
    // Other work on this machine would be a cause as well, and rightly so: therefore the station's
    // threads have precedence. The planted neighbour has a real-time priority.
    const int own = getpriority(PRIO_PROCESS, 0);
    setpriority(PRIO_PROCESS, 0, -20);
    Station station(std::move(options));
    setpriority(PRIO_PROCESS, 0, own);
    std::vector<std::string> record = {
        "record", "-p", std::to_string(station.pid()), "--for", "3s", "-o", path()};
    if (!context.empty()) record.insert(record.end(), {"--context", context, "--queues"});
    const test::Ended recorded = sojourn(record);
    INFO(recorded.err);
    REQUIRE(recorded.exit_code == 0);
    if (recorded.err.contains("no context of"))
      SKIP("without its kernel context there is nothing to name: " << recorded.err);
    truth_ = station.finish();
  }

  std::string path() const { return directory_.path("run.sjt"); }
  const truth::Truth& truth() const { return *truth_; }

  // The output of explain, whose parts add up.
  json explain(std::vector<std::string> options) const {
    options.insert(options.begin(), {"explain", path(), "--json", "--worst", "1000"});
    json said = json::parse(sojourn_done(std::move(options)));
    for (const json& packet : said.at("worst")) {
      std::uint64_t sum_ns = 0;
      for (const json& part : packet.at("parts")) sum_ns += part.at("ns").get<std::uint64_t>();
      REQUIRE(sum_ns == packet.at("latency_ns"));
    }
    INFO(said.at("causes").dump(1));
    REQUIRE(said.at("late") > 0);
    REQUIRE(said.at("forgotten") == 0);
    return said;
  }

 private:
  test::TemporaryDirectory directory_;
  std::optional<truth::Truth> truth_;
};

// The share of late packets with such a main cause.
template <typename Is>
double share_of(const json& said, Is is) {
  std::uint64_t packets = 0;
  for (const json& cause : said.at("causes"))
    if (is(cause)) packets += cause.at("packets").get<std::uint64_t>();
  return static_cast<double>(packets) / said.at("late").get<double>();
}

TEST_CASE("a slow stage is named by its work and by the queue before it") {
  const Faulty run(
      {"--slow-stage", "pdcp.rx:10000", "--rate-ul", "50", "--rate-dl", "200", "--air-loss", "0"});
  const json said = run.explain({"--dir", "U", "--deadline", "9ms"});
  const json& main = said.at("causes").at(0);
  INFO(said.at("causes").dump(1));
  CHECK(main.at("at") == "pdcp.rx");
  CHECK((main.at("cause") == "work" || main.at("cause") == "queue"));
  CHECK(share_of(said, [](const json& cause) { return cause.at("at") == "pdcp.rx"; }) > 0.6);
  CHECK(share_of(said, [](const json& cause) {
          return cause.at("cause") == "work" && cause.at("thread") == "ul-pdcp";
        }) > 0.2);
}

TEST_CASE("a stage that sleeps is named, with the system call") {
  const Faulty run({"--sleep-stage", "pdcp.rx:50000:10", "--rate-ul", "100", "--rate-dl", "200",
                    "--air-loss", "0"});
  const json said = run.explain({"--dir", "U", "--deadline", "30ms"});
  INFO(said.at("causes").dump(1));
  const json& main = said.at("causes").at(0);
  CHECK(main.at("cause") == "blocked");
  CHECK(main.at("at") == "pdcp.rx");
  CHECK(main.at("thread") == "ul-pdcp");
  CHECK(main.at("in") == "clock_nanosleep");
  CHECK(said.at("worst").at(0).at("why").get<std::string>().contains("slept (clock_nanosleep)"));
}

TEST_CASE("a neighbour that takes the CPU is named, and where and when it did") {
  const Faulty run({"--preempt", "pdcp.rx:40000:100", "--rate-ul", "1000", "--rate-dl", "200",
                    "--air-loss", "0"});
  const auto& preemptions = run.truth().preemptions;
  REQUIRE_FALSE(preemptions.empty());
  if (!preemptions.front().has_precedence)
    SKIP("the neighbour may not have precedence here: nobody is preempted for sure");
  // Others of the CPU's threads are kept from it as well, which makes packets late elsewhere.
  const json said =
      run.explain({"--deadline", "20ms", "--where", "dir == U && at(pdcp.rx) > 20ms"});
  INFO(said.at("causes").dump(1));
  const auto is_neighbours = [](const json& cause) {
    return cause.at("cause") == "cpu" && cause.at("by") == "neighbour";
  };
  CHECK(is_neighbours(said.at("causes").at(0)));
  CHECK(share_of(said, is_neighbours) > 0.5);
  CHECK(std::ranges::any_of(said.at("causes"), [&](const json& cause) {
    return is_neighbours(cause) && cause.at("at") == "pdcp.rx" && cause.at("thread") == "ul-pdcp" &&
           cause.at("cpu") == preemptions.front().cpu && cause.at("packets") > 0;
  }));
  std::size_t compared = 0;
  for (const json& packet : said.at("worst")) {
    for (const json& part : packet.at("parts")) {
      // It also runs a little before and after its stamps.
      if (part.at("cause") != "cpu" || part.at("by") != "neighbour" || part.at("ns") < 5'000'000)
        continue;
      const auto begin_ns = part.at("begin_ns").get<std::uint64_t>();
      const auto end_ns = part.at("end_ns").get<std::uint64_t>();
      ++compared;
      CHECK(std::ranges::any_of(preemptions, [&](const truth::Preemption& one) {
        return one.begin_ns < end_ns && begin_ns < one.end_ns;
      }));
    }
  }
  CHECK(compared > 0);
}

TEST_CASE("packets that are thrown away are counted where that happened") {
  const Faulty run({"--drop", "pdcp.rx:0.2", "--rate-ul", "2000", "--rate-dl", "200"}, "sched");
  const json said = run.explain({"--dir", "U"});
  std::uint64_t packets = 0;
  for (const json& drop : said.at("dropped"))
    if (drop.at("at") == "pdcp.rx" && drop.at("dir") == "U")
      packets += drop.at("packets").get<std::uint64_t>();
  const json report = json::parse(sojourn_done({"report", run.path(), "--json"}));
  std::uint64_t hits = 0;
  for (const json& point : report.at("points"))
    if (point.at("name") == "pdcp.rx--drop") hits = point.at("events");
  REQUIRE(hits > 100);
  CHECK(packets <= hits);
  CHECK(packets >= hits * 9 / 10);
  CHECK(sojourn_done({"explain", run.path()}).contains("dropped in U pdcp.rx"));
}

TEST_CASE("in a burst the packets ahead are counted") {
  const Faulty run({"--burst", "200", "--rate-dl", "4000", "--rate-ul", "100", "--size", "500"});
  const json said = run.explain({"--dir", "D", "--deadline", "10ms"});
  INFO(said.at("causes").dump(1));
  const json& main = said.at("causes").at(0);
  CHECK(main.at("cause") == "queue");
  CHECK(main.at("at").get<std::string>().starts_with("rlc.tx."));
  CHECK(main.at("mean_count") > 10);
  // Two ways to know how many there were: the target's own counters, and the journeys.
  std::size_t sampled = 0;
  for (const json& packet : said.at("worst"))
    for (const json& part : packet.at("parts"))
      if (part.at("cause") == "queue" && !part.at("sampled_depth").is_null()) ++sampled;
  CHECK(sampled > 0);
  const std::string report = sojourn_done({"report", run.path()});
  CHECK(report.contains("why the slowest "));
  CHECK(report.contains("next: sojourn explain "));
}

TEST_CASE("without context the queue is known, and the unknown causes are named") {
  const Faulty run({"--slow-stage", "pdcp.rx:1500", "--rate-ul", "500", "--rate-dl", "200"}, "");
  const json said = run.explain({"--dir", "U", "--deadline", "3ms"});
  std::vector<std::string> missing;
  for (const json& one : said.at("missing")) missing.push_back(one.at("what"));
  CHECK(missing == std::vector<std::string>{"sched", "irq", "syscalls", "faults", "queues"});
  CHECK(said.at("causes").at(0).at("at") == "pdcp.rx");
  CHECK(sojourn_done({"explain", run.path()}).contains("record --context sched would tell"));
}

}  // namespace
}  // namespace sojourn::live
