// Counters and profiles of programs whose work is known (subjects/perf.c), and of the base station.
#include <algorithm>
#include <chrono>
#include <fstream>
#include <map>
#include <optional>
#include <sstream>
#include <thread>

#include <catch2/catch_test_macros.hpp>
#include <fcntl.h>
#include <fmt/format.h>
#include <nlohmann/json.hpp>
#include <unistd.h>

#include "tests/live/programs.h"
#include "tests/live/subject_recording.h"
#include "userspace/tracee/elf_file.h"

namespace sojourn::live {
namespace {

using nlohmann::json;

// A recording of a subject with known work, and the commands' output for its trace.
class Recorded : public SubjectRecording {
 public:
  Recorded(const std::string& work, int count, const std::vector<std::string>& options,
           const std::string& program = SJ_SUBJECT_PERF)
      : SubjectRecording({program, work, std::to_string(count)}, options, "attached") {}

  json report() const { return json::parse(sojourn_done({"report", "--json", path()})); }
  json profile(std::vector<std::string> options = {}) const {
    std::vector<std::string> argv = {"profile", "--json", path()};
    argv.insert(argv.end(), options.begin(), options.end());
    return json::parse(sojourn_done(argv));
  }
};

json entry(const json& list, const char* member, const std::string& value) {
  for (const json& item : list)
    if (item.at(member) == value) return item;
  FAIL("there is no " << member << " " << value << " in " << list.dump());
  return {};
}

// The function's share of the time of all, or of one member of it.
double share(const json& part, const std::string& function, const char* member) {
  for (const json& item : part.at("functions"))
    if (item.at("function") == function)
      return item.at(member).get<double>() / part.at("ns").get<double>();
  return 0;
}

TEST_CASE("the page faults of a hop are those that its work made, each of them") {
  need_root();
  constexpr std::uint64_t kPackets = 500;
  const Recorded run("faults", kPackets, {"--counters", "page-faults"});
  const json faults = entry(run.report().at("counters"), "name", "page-faults");
  const json hop = entry(faults.at("hops"), "at", "fault.touch");
  CHECK(hop.at("passes") == kPackets);
  CHECK(hop.at("count") == 3 * kPackets);
  CHECK(hop.at("samples") == 3 * kPackets);
  CHECK(hop.at("a_packet").get<double>() == 3.0);
  CHECK(faults.at("hops").size() == 1);
  // One between two units each; a few besides at its end.
  CHECK(faults.at("between_units") >= kPackets);
  CHECK(faults.at("between_units") <= kPackets + 100);
  CHECK(sojourn_done({"report", run.path()}).contains("1,500 (3.000)"));
  CHECK(sojourn({"check", run.path()}).out.contains("whole"));
}

TEST_CASE("the switches of a hop are those that the kernel counted meanwhile") {
  need_root();
  constexpr std::uint64_t kSleeps = 100;
  const Recorded run("switches", kSleeps, {"--counters", "context-switches,cpu-migrations"});
  const json report = run.report();
  const json switches = entry(report.at("counters"), "name", "context-switches");
  const json hop = entry(switches.at("hops"), "at", "nap.sleep");
  CHECK(run.counted("in_hop") >= kSleeps);
  // The thread may be preempted between a stamp and its own look at the kernel's counter.
  CHECK(hop.at("count") >= run.counted("in_hop"));
  CHECK(hop.at("count") <= run.counted("in_hop") + 20);
  CHECK(entry(report.at("counters"), "name", "cpu-migrations").at("missing") == "");
}

TEST_CASE("the one hot function of a hop has its time, and inlined ones have names") {
  need_root();
  const Recorded run("burn", 250, {"--profile", "999Hz"});
  const json profile = run.profile();
  const auto cpu_ns = static_cast<double>(run.counted("cpu_us")) * 1e3;
  CHECK(profile.at("ns").get<double>() > 0.8 * cpu_ns);
  CHECK(profile.at("ns").get<double>() < 1.3 * cpu_ns);
  // Three of four milliseconds.
  CHECK(share(profile, "inlined_work", "total_ns") > 0.6);
  CHECK(share(profile, "sj_hot_function", "total_ns") > 0.6);
  CHECK(share(profile, "sj_hot_caller", "total_ns") > 0.6);
  CHECK(share(profile, "sj_hot_caller", "self_ns") < 0.05);
  CHECK(share(profile, "sj_cold_function", "total_ns") > 0.15);
  CHECK(share(profile, "sj_cold_function", "total_ns") < 0.4);
  CHECK(share(profile, "main", "total_ns") > 0.9);
  CHECK(profile.at("functions").front().at("function") != "main");

  const json hop = entry(profile.at("hops"), "at", "burn.burn");
  CHECK(share(hop, "sj_hot_function", "total_ns") > 0.9);
  CHECK(share(hop, "sj_cold_function", "total_ns") == 0);
  const json narrowed = run.profile({"--hop", "burn.burn"});
  CHECK(narrowed.at("ns") == hop.at("ns"));
  CHECK(run.profile({"--hop", "between units"}).at("ns").get<double>() ==
        profile.at("ns").get<double>() - hop.at("ns").get<double>());
}

TEST_CASE("folded stacks begin with thread and hop, and their counts add up") {
  need_root();
  const Recorded run("burn", 100, {"--profile", "999Hz"});
  const std::string text = sojourn_done({"profile", "--folded", run.path()});
  std::istringstream lines(text);
  std::uint64_t samples = 0;
  std::uint64_t hot = 0;
  for (std::string line; std::getline(lines, line);) {
    const auto space = line.rfind(' ');
    REQUIRE(space != std::string::npos);
    const std::uint64_t count = std::stoull(line.substr(space + 1));
    samples += count;
    CHECK(line.starts_with("sj-subject-perf;"));
    if (line.contains(";D burn.burn;") &&
        line.contains("main;do_burn;sj_hot_caller;sj_hot_function;inlined_work"))
      hot += count;
  }
  CHECK(samples == run.profile().at("samples"));
  CHECK(2 * hot > samples);
}

TEST_CASE("threads that start later are sampled from then on, by their names") {
  need_root();
  constexpr int kThreads = 5;
  const Recorded run("late", kThreads, {"--profile", "999Hz"});
  const json profile = run.profile();
  for (int number = 1; number <= kThreads; ++number) {
    const json thread = entry(profile.at("threads"), "name", fmt::format("late {}", number));
    CHECK(thread.at("tid") == run.counted(fmt::format("late_{}", number)));
    // A tenth of a second of CPU time each.
    CHECK(thread.at("ns") > 70'000'000);
    CHECK(thread.at("ns") < 200'000'000);
  }
}

TEST_CASE("a counter that this machine has not is left out with a word, and the rest goes on") {
  need_root();
  const Recorded run("faults", 100, {"--counters", "page-faults,cycles,LLC-load-misses"});
  const json counters = run.report().at("counters");
  CHECK(entry(entry(counters, "name", "page-faults").at("hops"), "at", "fault.touch").at("count") ==
        300);
  for (const char* name : {"cycles", "LLC-load-misses"}) {
    const json counter = entry(counters, "name", name);
    if (counter.at("missing") == "") {
      CHECK(counter.at("samples") > 0);
      continue;
    }
    CHECK(run.said().contains(fmt::format("no {}: ", name)));
    CHECK(sojourn_done({"report", run.path()}).contains(fmt::format("no {}: ", name)));
  }
}

TEST_CASE("samples that find no room are in the ledger, to the sample") {
  need_root();
  constexpr std::uint64_t kPackets = 2'000;
  const Recorded run(
      "faults", kPackets,
      {"--counters", "page-faults,context-switches", "--perf-ring", "4K", "--poll", "1000ms"});
  const json report = run.report();
  const trace::Reader reader = open_trace(run.path());
  std::map<std::uint32_t, std::uint64_t> lost;
  std::uint64_t lost_faults = 0;
  for (const model::LedgerEntry& one : reader.ledger()) {
    lost[one.stream] += one.count;
    REQUIRE(one.point != model::kNoPoint);
    if (reader.schema().points.at(one.point).name() == "counter.page-faults")
      lost_faults += one.count;
  }
  REQUIRE(lost_faults > 0);
  std::map<std::uint32_t, std::uint64_t> kept;
  for (const trace::BlockInfo& block : reader.blocks()) kept[block.stream] += block.events;
  for (const model::Stream& stream : reader.streams()) {
    if (stream.engine != model::Engine::kSampler) continue;
    CAPTURE(stream.id);
    CHECK(kept[stream.id] + lost[stream.id] == reader.capture().stream_hits.at(stream.id));
  }
  const auto kept_faults =
      entry(report.at("counters"), "name", "page-faults").at("count").get<std::uint64_t>();
  CHECK(kept_faults + lost_faults >= 4 * kPackets);
  CHECK(kept_faults + lost_faults <= 4 * kPackets + 200);
  // Lost samples of counters have no effect on packets.
  CHECK(report.at("journeys").at("D").at("complete") == kPackets);
  CHECK(report.at("journeys").at("D").at("censored") == 0);
  CHECK(sojourn({"check", run.path()}).out.contains("whole"));
}

TEST_CASE("a base station's profile goes to its hops and threads, next to everything else") {
  need_root();
  Station station;
  const test::TemporaryDirectory directory;
  const std::string path = directory.path("run.sjt");
  sojourn_done({"record", "-p", std::to_string(station.pid()), "--for", "2s", "-o", path,
                "--counters", "page-faults,context-switches", "--profile", "999Hz", "--context",
                "sched", "--queues", "1ms"});
  CHECK(station.running());
  const json profile = json::parse(sojourn_done({"profile", "--json", path}));
  CHECK(profile.at("samples") > 100);
  CHECK(profile.at("threads").size() > 2);
  CHECK(std::ranges::any_of(profile.at("hops"),
                            [](const json& hop) { return hop.at("at").is_string(); }));
  CHECK(std::ranges::any_of(profile.at("functions"), [](const json& function) {
    return function.at("function").get<std::string>().contains("sojourn::basestation::");
  }));
  // The switches of a thread are counted twice, by two parts of the kernel; the one at a mark may
  // be on either side of it.
  const json report = json::parse(sojourn_done({"report", "--json", path}));
  std::uint64_t by_context = 0;
  for (const json& thread : report.at("context").at("threads"))
    by_context += thread.at("switches").get<std::uint64_t>();
  const auto by_counter =
      entry(report.at("counters"), "name", "context-switches").at("count").get<std::uint64_t>();
  CHECK(by_counter + report.at("context").at("threads").size() >= by_context);
  CHECK(report.at("journeys").at("D").at("incomplete") == 0);
  station.finish();
}

TEST_CASE("a profile without names is one of modules and addresses") {
  need_root();
  const test::TemporaryDirectory directory;
  const std::string stripped = directory.path("stripped");
  REQUIRE(test::run({"/usr/bin/strip", "-o", stripped, SJ_SUBJECT_PERF}).exit_code == 0);
  const Recorded run("burn", 50, {"--profile", "999Hz"}, stripped);
  const json profile = run.profile();
  CHECK(share(profile, "sj_hot_function", "total_ns") == 0);
  const auto file = tracee::ElfFile::open(SJ_SUBJECT_PERF, "subject");
  REQUIRE(file);
  const auto functions = file->functions();
  REQUIRE(functions);
  const auto hot = std::ranges::find(*functions, "sj_hot_function", &tracee::FunctionSymbol::name);
  REQUIRE(hot != functions->end());
  const std::string begin = fmt::format("stripped+{:#x}", hot->address);
  CHECK(share(profile, begin, "total_ns") > 0.5);
  for (const json& function : profile.at("functions")) {
    CAPTURE(function.dump());
    if (function.at("module") == "stripped") CHECK(function.at("named") == false);
    // It is one function, not one for each address that was met.
    const std::string name = function.at("function");
    if (!name.starts_with("stripped+0x") || name == begin) continue;
    const auto address = std::stoull(name.substr(name.find('+') + 1), nullptr, 16);
    CHECK((address < hot->address || address >= hot->address + hot->bytes));
  }
  CHECK(entry(profile.at("hops"), "at", "burn.burn").at("samples") > 50);
}

TEST_CASE("a flight recorder's dump has the names of its profile, while recording goes on") {
  need_root();
  Station station;
  const test::TemporaryDirectory directory;
  test::Child tracer({SJ_SOJOURN, "record", "-p", std::to_string(station.pid()), "--flight", "10s",
                      "--profile", "999Hz", "-o", directory.path("run.sjt")});
  REQUIRE(tracer.wait_for_output("attached"));
  std::this_thread::sleep_for(std::chrono::seconds(2));
  sojourn_done({"ctl", "-p", std::to_string(station.pid()), "dump"});
  sojourn_done({"ctl", "-p", std::to_string(station.pid()), "stop"});
  const test::Ended ended = tracer.wait();
  INFO(ended.err);
  CHECK(ended.exit_code == 0);
  for (const char* name : {"run-1.sjt", "run.sjt"}) {
    CAPTURE(name);
    const std::string path = directory.path(name);
    const json profile = json::parse(sojourn_done({"profile", "--json", path}));
    CHECK(profile.at("samples") > 50);
    std::size_t of_station = 0;
    for (const json& function : profile.at("functions")) {
      if (function.at("module") != "sj-basestation") continue;
      ++of_station;
      CAPTURE(function.dump());
      CHECK(function.at("named") == true);
    }
    CHECK(of_station > 0);
    CHECK(sojourn({"check", path}).out.contains("whole"));
  }
  station.finish();
}

TEST_CASE("an unknown counter or an invalid frequency is refused before anything is recorded") {
  const auto refused = [](std::vector<std::string> options, const std::string& why) {
    std::vector<std::string> argv = {"record", "-p", "1"};
    argv.insert(argv.end(), options.begin(), options.end());
    const test::Ended ended = sojourn(argv);
    CAPTURE(ended.err);
    CHECK(ended.exit_code == 2);
    CHECK(ended.err.contains(why));
  };
  refused({"--counters", "page-faults,weather"}, "\"weather\" is no counter");
  refused({"--counters", "page-faults,page-faults"}, "asked for twice");
  refused({"--counters", "cycles=0"}, "the period after =");
  refused({"--counters", "page-faults=7"}, "there is no period");
  refused({"--profile", "often"}, "is not a frequency");
  refused({"--profile", "0Hz"}, "is not a frequency");
  refused({"--perf-ring", "5000"}, "a power of two");
  const test::Ended list = sojourn({"record", "--counters", "list"});
  CHECK(list.exit_code == 0);
  CHECK(list.out.contains("page-faults"));
}

}  // namespace
}  // namespace sojourn::live
