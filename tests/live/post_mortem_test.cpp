// The last events of a target that crashes become a trace. The subject writes the progress of each
// of its threads into a page of a file.
#include <algorithm>
#include <array>
#include <csignal>
#include <cstring>
#include <filesystem>
#include <map>
#include <thread>

#include <catch2/catch_test_macros.hpp>
#include <catch2/generators/catch_generators.hpp>
#include <nlohmann/json.hpp>

#include "tests/live/programs.h"

namespace sojourn::live {
namespace {

// The progress of a worker of tests/live/subjects/last_words.cpp.
struct Count {
  std::uint64_t begun = 0;
  std::uint64_t done = 0;
  std::uint64_t tid = 0;
};

std::string core_pattern() {
  std::string pattern = test::contents("/proc/sys/kernel/core_pattern");
  pattern.erase(pattern.find_last_not_of('\n') + 1);
  return pattern;
}

// A directory in which subjects end, with the files that they leave.
class Scene {
 public:
  // Ring files and a core file: all of the subject's mappings are dumped.
  test::Ended run(const std::string& rings, const std::string& bytes, unsigned workers,
                  std::uint64_t hits, const std::string& ending) {
    std::filesystem::create_directory(rings_directory());
    return test::run({"sh", "-c", script(rings, bytes, workers, hits, ending)});
  }

  std::string script(const std::string& rings, const std::string& bytes, unsigned workers,
                     std::uint64_t hits, const std::string& ending) const {
    return "cd " + directory_.path() +
           " && echo 0x3f > /proc/self/coredump_filter && ulimit -c unlimited"
           " && exec env SJ_RING_DIR=" +
           rings_directory() + " SJ_RINGS=" + rings + " SJ_RING_BYTES=" + bytes +
           " " SJ_SUBJECT_LAST_WORDS " " + std::to_string(workers) + " " + std::to_string(hits) +
           " " + ending + " counts";
  }

  std::vector<Count> counts(unsigned workers) const {
    const std::string bytes = test::contents(directory_.path("counts"));
    std::vector<Count> counts(workers);
    REQUIRE(bytes.size() >= workers * sizeof(Count));
    std::memcpy(counts.data(), bytes.data(), workers * sizeof(Count));
    return counts;
  }

  std::string path(const std::string& name) const { return directory_.path(name); }
  std::string rings_directory() const { return directory_.path("rings"); }
  std::string ring_file() const {
    for (const auto& entry : std::filesystem::directory_iterator(rings_directory()))
      return entry.path().string();
    FAIL("no ring file");
    return {};
  }
  std::string core() const {
    for (const auto& entry : std::filesystem::directory_iterator(directory_.path()))
      if (entry.path().filename().string().starts_with("core")) return entry.path().string();
    FAIL("no core file");
    return {};
  }

 private:
  test::TemporaryDirectory directory_;
};

std::string recovered(const Scene& scene, const std::string& from, const std::string& name) {
  const std::string trace = scene.path(name);
  sojourn_done({"record", "--post-mortem", from, "-o", trace});
  return trace;
}

// The numbers of each worker's hits, in their order.
std::map<std::uint64_t, std::vector<std::uint64_t>> numbers_of(trace::Reader& reader) {
  std::map<std::uint64_t, std::vector<std::uint64_t>> numbers;
  REQUIRE(reader.merge([&](const model::EventBatch& batch) {
    for (std::size_t row = 0; row < batch.size(); ++row)
      numbers[batch[row].values[1]].push_back(batch[row].values[2]);
    return true;
  }));
  return numbers;
}

void check_is_run(const std::vector<std::uint64_t>& numbers) {
  for (std::size_t row = 1; row < numbers.size(); ++row)
    if (numbers[row] != numbers[row - 1] + 1) FAIL("events do not follow one another");
}

std::uint64_t lost_of(const trace::Reader& reader, model::LossCause cause) {
  std::uint64_t lost = 0;
  for (const model::LedgerEntry& entry : reader.ledger())
    if (entry.cause == cause) lost += entry.count;
  return lost;
}

TEST_CASE("after a SIGSEGV the ring file and the core file agree up to the last event") {
  if (core_pattern().starts_with('|') || core_pattern().contains('/'))
    SKIP("the kernel sends cores to '" << core_pattern() << "', not to a file in the directory");
  constexpr unsigned kWorkers = 3;
  constexpr std::uint64_t kHits = 100'000;
  Scene scene;
  CHECK(scene.run("flight", "64K", kWorkers, kHits, "segv").exit_code == -1);
  const std::vector<Count> counts = scene.counts(kWorkers);
  CHECK(counts[0].done == kHits);

  trace::Reader file = open_trace(recovered(scene, scene.ring_file(), "file.sjt"));
  trace::Reader core = open_trace(recovered(scene, scene.core(), "core.sjt"));
  const auto numbers = numbers_of(file);
  CHECK(numbers == numbers_of(core));
  REQUIRE(numbers.size() == kWorkers);
  CHECK(numbers.at(0).back() == kHits - 1);
  std::uint64_t unfinished = 0;
  for (const auto& [worker, own] : numbers) {
    CAPTURE(worker);
    CHECK(own.size() > 1000);
    check_is_run(own);
    // The others were anywhere in a hit: it is whole or not there.
    CHECK(own.back() + 1 >= counts[worker].done);
    CHECK(own.back() + 1 <= counts[worker].begun);
    unfinished += own.back() + 1 < counts[worker].begun ? 1 : 0;
  }
  CHECK(lost_of(core, model::LossCause::kTargetGone) <= unfinished);
  CHECK(lost_of(file, model::LossCause::kTargetGone) <=
        lost_of(core, model::LossCause::kTargetGone));
  CHECK(lost_of(core, model::LossCause::kRingFull) == 0);
  CHECK(file.capture().ended_by == "target exit");
  CHECK(core.capture().ended_by == "target exit by SIGSEGV");
  CHECK(core.target().name == "worker-0");  // the name of the first thread
  CHECK(file.target().exe == std::filesystem::canonical(SJ_SUBJECT_LAST_WORDS));
  CHECK(!file.target().build_id.empty());
  CHECK(file.capture().stamp_error_ns > 0);
  CHECK(file.capture().stamp_error_ns < 1'000'000);
  std::map<std::uint64_t, std::string> names;
  for (const model::ContextName& name : core.context().names) names[name.id] = name.name;
  CHECK(names[counts[2].tid] == "worker-2");
  for (const char* trace : {"file.sjt", "core.sjt"}) {
    sojourn_done({"check", scene.path(trace)});
    sojourn_done({"report", scene.path(trace)});
  }
}

TEST_CASE("after a SIGKILL the directory of ring files has each thread's last event") {
  constexpr unsigned kWorkers = 4;
  Scene scene;
  CHECK(scene.run("flight", "32K", kWorkers, 50'000, "kill").exit_code == -1);
  const std::vector<Count> counts = scene.counts(kWorkers);
  trace::Reader reader = open_trace(recovered(scene, scene.rings_directory(), "run.sjt"));
  const auto numbers = numbers_of(reader);
  REQUIRE(numbers.size() == kWorkers);
  for (const auto& [worker, own] : numbers) {
    CAPTURE(worker);
    check_is_run(own);
    CHECK(own.back() + 1 >= counts[worker].done);
    CHECK(own.back() + 1 <= counts[worker].begun);
  }
}

TEST_CASE("rings that stop when they are full say how many hits came after, to the last one") {
  constexpr unsigned kWorkers = 2;
  constexpr std::uint64_t kHits = 10'000;
  Scene scene;
  CHECK(scene.run("armed", "16K", kWorkers, kHits, "kill").exit_code == -1);
  const std::vector<Count> counts = scene.counts(kWorkers);
  trace::Reader reader = open_trace(recovered(scene, scene.ring_file(), "run.sjt"));
  auto numbers = numbers_of(reader);
  std::uint64_t kept = 0;
  for (const auto& [worker, own] : numbers) {
    CHECK(own.front() == 0);
    check_is_run(own);
    kept += own.size();
  }
  CHECK(numbers[0].size() < 1000);
  const std::uint64_t lost = lost_of(reader, model::LossCause::kRingFull);
  // One hit of the other thread may or may not have been counted when it was killed.
  CHECK(kept + lost >= counts[0].done + counts[1].done);
  CHECK(kept + lost <= counts[0].begun + counts[1].begun + 1);
  const auto found =
      nlohmann::json::parse(sojourn_done({"check", "--json", scene.path("run.sjt")}));
  CHECK(found.at("losses") == "accounted");
}

TEST_CASE("a collector that is attached when the target crashes has its last events") {
  constexpr unsigned kWorkers = 3;
  const std::string engine = GENERATE("ring", "bpf");
  if (engine == "bpf") need_root();
  CAPTURE(engine);
  Scene scene;
  const std::string trace = scene.path("run.sjt");
  const test::Ended recorded =
      sojourn({"record", "-o", trace, "--engine", engine, "--budget", "none", "--ring-size",
               engine == "ring" ? "2M" : "16M", "--", SJ_SUBJECT_LAST_WORDS,
               std::to_string(kWorkers), "20000", "segv", scene.path("counts")});
  INFO(recorded.err);
  REQUIRE(recorded.exit_code == 0);
  const std::vector<Count> counts = scene.counts(kWorkers);
  trace::Reader reader = open_trace(trace);
  const auto numbers = numbers_of(reader);
  CHECK(numbers.at(0).back() == 19'999);
  if (reader.ledger().empty())
    for (const auto& [worker, own] : numbers) {
      CAPTURE(worker);
      check_is_run(own);
      CHECK(own.front() == 0);
      CHECK(own.back() + 1 >= counts[worker].done);
      CHECK(own.back() + 1 <= counts[worker].begun);
    }
  CHECK(reader.capture().ended_by == "target exit");
}

TEST_CASE("a debugger's core of a process that goes on agrees with its rings") {
  if (test::run({"sh", "-c", "command -v gcore"}).exit_code != 0)
    SKIP("gcore (of gdb) is not installed");
  Scene scene;
  std::filesystem::create_directory(scene.rings_directory());
  test::Child subject({"sh", "-c", scene.script("flight", "32K", 2, 30'000, "wait")});
  REQUIRE(subject.wait_for_output("ready"));
  const test::Ended gcore =
      test::run({"gcore", "-o", scene.path("core"), std::to_string(subject.pid())});
  INFO(gcore.err);
  REQUIRE(gcore.exit_code == 0);
  const test::Ended running =
      sojourn({"record", "--post-mortem", scene.ring_file(), "-o", scene.path("none.sjt")});
  CHECK(running.exit_code == 1);
  CHECK(running.err.contains("still runs"));
  CHECK(running.err.contains("--snapshot"));
  subject.signal(SIGKILL);
  subject.wait();
  trace::Reader core = open_trace(recovered(scene, scene.core(), "core.sjt"));
  trace::Reader file = open_trace(recovered(scene, scene.ring_file(), "file.sjt"));
  const auto numbers = numbers_of(core);
  CHECK(numbers == numbers_of(file));
  CHECK(numbers.at(0).back() == 29'999);
  CHECK(numbers.at(1).back() == 29'999);
}

TEST_CASE("the program is found by its build id at its present place") {
  Scene scene;
  CHECK(scene.run("flight", "32K", 1, 1000, "kill").exit_code == -1);
  const std::string ring_file = scene.ring_file();
  const auto by = [&](const std::string& exe) {
    return sojourn({"record", "--post-mortem", ring_file, "--exe", exe, "-o", scene.path("r.sjt")});
  };
  // The path in the rings is still valid: the given one is only tried first.
  CHECK(by("/nowhere").exit_code == 0);
  // The path in the arena is changed to another program, as if it had been installed anew.
  std::string bytes = test::contents(ring_file);
  const std::string path = std::filesystem::canonical(SJ_SUBJECT_LAST_WORDS);
  const std::size_t at = bytes.find(path);
  REQUIRE(at != std::string::npos);
  const std::string other = std::filesystem::canonical(SJ_PIPELINE);
  bytes.replace(at, path.size() + 1, path.size() + 1, '\0');
  bytes.replace(at, other.size(), other);
  test::write_contents(ring_file, bytes);
  const test::Ended another = by("/nowhere");
  CHECK(another.exit_code == 1);
  CHECK(another.err.contains("is another build"));
  CHECK(another.err.contains("--exe"));
  const test::Ended moved = by(SJ_SUBJECT_LAST_WORDS);
  INFO(moved.err);
  CHECK(moved.exit_code == 0);
  CHECK(open_trace(scene.path("r.sjt")).events() == 1000);
}

TEST_CASE("a file without rings is refused in one line, without a trace") {
  Scene scene;
  const auto refuse = [&](const std::string& from, const std::string& why) {
    CAPTURE(from);
    const std::string trace = scene.path("none.sjt");
    const test::Ended ended = sojourn({"record", "--post-mortem", from, "-o", trace});
    CHECK(ended.exit_code == 1);
    CHECK(std::ranges::count(ended.err, '\n') == 1);
    INFO(ended.err);
    CHECK(ended.err.contains(why));
    CHECK(!std::filesystem::exists(trace));
    CHECK(!std::filesystem::exists(trace + ".partial"));
  };
  refuse(scene.path("nowhere"), "No such file");
  refuse(scene.path("."), "no ring files");
  refuse("/dev/null", "not a regular file");
  refuse(SJ_SUBJECT_LAST_WORDS, "neither a ring file nor a core file");
  CHECK(scene.run("armed", "16K", 1, 0, "kill").exit_code == -1);
  refuse(scene.ring_file(), "it was not recorded");
  CHECK(scene.run("armed", "16K", 1, 5, "kill").exit_code == -1);
  refuse(scene.rings_directory(), "rings of several processes");
  const test::Ended both =
      sojourn({"record", "--post-mortem", scene.rings_directory(), "--for", "1s"});
  CHECK(both.exit_code == 2);
  CHECK(both.err.contains("--for is for a capture"));
}

TEST_CASE("a base station that crashes as a flight recorder leaves journeys") {
  Scene scene;
  std::filesystem::create_directory(scene.rings_directory());
  test::Child station({"sh", "-c",
                       "exec env SJ_RINGS=flight SJ_RING_BYTES=1M SJ_RING_DIR=" +
                           scene.rings_directory() + " " SJ_BASESTATION " --ready-fd 3"});
  REQUIRE(station.wait_for_ready_line() == "ready\n");
  std::this_thread::sleep_for(std::chrono::seconds(2));
  station.signal(SIGSEGV);
  station.wait();
  const std::string trace = recovered(scene, scene.rings_directory(), "run.sjt");
  CHECK(open_trace(trace).events() > 10'000);
  sojourn_done({"check", trace});
  const auto report = nlohmann::json::parse(sojourn_done({"report", "--json", trace}));
  CHECK(report.at("journeys").at("D").at("complete") > 1000);
  CHECK(report.at("journeys").at("D").at("incomplete") == 0);
}

}  // namespace
}  // namespace sojourn::live
