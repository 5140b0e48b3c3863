// `record --auto` and `threads`: programs without points whose threads' activity is known
// (subjects/hand_over.cpp), and the base station under test.
#include <atomic>
#include <chrono>
#include <csignal>
#include <map>
#include <memory>
#include <thread>

#include <catch2/catch_test_macros.hpp>
#include <catch2/generators/catch_generators.hpp>
#include <fmt/format.h>
#include <nlohmann/json.hpp>
#include <sys/syscall.h>
#include <unistd.h>

#include "tests/live/control_group.h"
#include "tests/live/programs.h"
#include "tests/live/subject_recording.h"
#include "userspace/capture/context/syscall_rate.h"

namespace sojourn::live {
namespace {

using nlohmann::json;

constexpr std::uint64_t kPackets = 300;

// A kernel may run no programs on behalf of some processes, and a busy thread is not woken for the
// next item. So a part of the wakeups is not seen.
bool most(std::uint64_t seen, std::uint64_t of) {
  return seen <= of && 2 * seen >= of;
}

// The subject, recorded from before its first packet to its end, and what `threads` says of it.
class Recorded : public SubjectRecording {
 public:
  explicit Recorded(const std::vector<std::string>& how)
      : SubjectRecording({SJ_SUBJECT_HAND_OVER, std::to_string(kPackets)}, how, "no points: only"),
        found_(json::parse(sojourn_done({"threads", "--json", path()}))) {}

  const json& found() const { return found_; }

  const json& thread(const std::string& name) const {
    for (const json& thread : found_.at("threads"))
      if (thread.at("tid") == counted(name)) return thread;
    FAIL("no thread " << name << " in " << found_.dump(2));
    return found_;
  }

  // The most frequent of those edges.
  const json& edge(const std::string& cause, const std::string& from, const std::string& to,
                   const std::string& call) const {
    const json* best = nullptr;
    for (const json& edge : found_.at("edges")) {
      const bool is_meant = edge.at("cause") == cause && edge.at("to_tid") == counted(to) &&
                            (cause != "thread" || edge.at("from_tid") == counted(from)) &&
                            edge.at("call") == call;
      if (is_meant && (best == nullptr || edge.at("count") > best->at("count"))) best = &edge;
    }
    if (best == nullptr) FAIL("no edge " << from << " -> " << to << " in " << found_.dump(2));
    return *best;
  }

 private:
  json found_;
};

std::uint64_t number(const json& of, const char* key) {
  return of.at(key).get<std::uint64_t>();
}

TEST_CASE("record --auto infers the role of each thread of an unknown program") {
  need_root();
  const Recorded run({"--auto", "--context", "sched,irq,syscalls,sockets", "--for", "60s"});

  const json& tick = run.thread("tick");
  CHECK(tick.at("role") == "periodic");
  const std::uint64_t period_ns = tick.at("period_ns");
  CHECK(period_ns >= 4'000'000);
  CHECK(period_ns <= 6'000'000);
  const json& reader = run.thread("reader");
  CHECK(reader.at("role") == "socket");
  CHECK(most(number(reader, "received"), kPackets));
  CHECK(number(reader, "sent") == 0);
  CHECK(run.thread("worker").at("role") == "driven");
  const json& sender = run.thread("sender");
  CHECK(sender.at("role") == "driven");
  CHECK(most(number(sender, "sent"), kPackets));

  CHECK(most(number(run.edge("network", "", "reader", "recvfrom"), "count"), kPackets));
  CHECK(most(number(run.edge("thread", "worker", "sender", "futex"), "count"), kPackets));

  // The delay from the wakeup to a CPU is within the times that the threads themselves saw.
  const json& handed = run.edge("thread", "reader", "worker", "futex");
  CHECK(most(number(handed, "count"), kPackets));
  const json& delay = handed.at("woken_to_running_ns");
  CHECK(number(delay, "p50") <= run.counted("hand_over.max"));
  CHECK(delay.at("mean").get<double>() * static_cast<double>(number(delay, "count")) <=
        static_cast<double>(run.counted("hand_over.sum")));
  CHECK(number(delay, "p50") > 0);

  const json* way = nullptr;
  for (const json& path : run.found().at("paths"))
    if (path.at("tids") ==
        json::array({run.counted("reader"), run.counted("worker"), run.counted("sender")}))
      way = &path;
  INFO(run.found().at("paths").dump(2));
  REQUIRE(way != nullptr);
  const json& latency = way->at("latency_ns");
  CHECK(most(number(latency, "count"), kPackets));
  CHECK(number(latency, "p50") >= run.counted("way.min"));
  CHECK(number(latency, "p50") <= run.counted("way.max"));

  std::uint64_t sent_to_reader = 0;
  for (const json& sent : run.found().at("sent_to_each_other"))
    if (sent.at("from_tid") == run.counted("feeder") && sent.at("to_tid") == run.counted("reader"))
      sent_to_reader = number(sent, "count");
  CHECK(most(sent_to_reader, kPackets));

  const std::string text = sojourn_done({"threads", run.path()});
  CHECK(text.contains("by packets (recvfrom udp 127.0.0.1:"));
  CHECK(text.contains("reader -> worker -> sender"));
  CHECK(text.contains("--suggest"));
  CHECK(sojourn_done({"threads", "--dot", run.path()}).starts_with("digraph threads {"));
  // A trace without points has the threads in its report.
  CHECK(sojourn_done({"report", run.path()}).contains("reader -> worker -> sender"));
  CHECK(run.said().ends_with(fmt::format("next: sojourn threads {}\n", run.path())));
}

TEST_CASE("without system calls the wakeup graph is there, and the missing parts are named") {
  need_root();
  const Recorded run({"--auto", "--context", "sched", "--for", "60s"});
  CHECK(run.found().at("knows_calls") == false);
  CHECK(run.thread("tick").at("role") == "periodic");
  CHECK(run.thread("worker").at("role") == "driven");
  CHECK(run.found().at("paths").empty());
  CHECK(sojourn_done({"threads", run.path()}).contains("system calls were not recorded"));
}

TEST_CASE("record --auto without rights to eBPF leads to a command that can read its trace") {
  need_root();  // to become a user without rights
  const test::TemporaryDirectory directory;
  constexpr uid_t kNobody = 65534;
  REQUIRE(chown(directory.path().c_str(), kNobody, kNobody) == 0);
  const std::string path = directory.path("run.sjt");
  const std::vector<std::string> as_nobody = {"setpriv", "--reuid=65534", "--regid=65534",
                                              "--clear-groups", "--inh-caps=-all"};
  std::vector<std::string> subject = as_nobody;
  subject.insert(subject.end(), {"sleep", "60"});
  test::Child sleeper(subject);
  std::vector<std::string> record = as_nobody;
  record.insert(record.end(), {SJ_SOJOURN, "record", "-p", std::to_string(sleeper.pid()), "--auto",
                               "--for", "300ms", "-o", path});
  usleep(100'000);  // setpriv becomes the sleeper
  const test::Ended ended = test::run(record);
  INFO(ended.err);
  REQUIRE(ended.exit_code == 0);
  CHECK(ended.err.contains("no context of sched"));
  CHECK_FALSE(ended.err.contains("only its context is recorded"));
  CHECK(ended.err.ends_with(fmt::format("next: sojourn report {}\n", path)));
  CHECK(sojourn_done({"report", path}).contains("no context of sched"));
}

TEST_CASE("record --auto shows the threads of a base station, as far as it is affordable") {
  need_root();
  const test::TemporaryDirectory directory;
  const std::string path = directory.path("run.sjt");
  Station station;
  const test::Ended ended =
      sojourn({"record", "-p", std::to_string(station.pid()), "--auto", "--for", "1s", "-o", path});
  INFO(ended.err);
  REQUIRE(ended.exit_code == 0);
  CHECK(ended.err.ends_with(fmt::format("next: sojourn threads {}\n", path)));
  const json found = json::parse(sojourn_done({"threads", "--json", path}));
  std::map<std::string, json> threads;
  for (const json& thread : found.at("threads")) threads[thread.at("name")] = thread;
  REQUIRE(threads.contains("mac"));
  CHECK(number(threads.at("mac"), "running_ns") > 0);
  const bool is_dear = ended.err.contains("without system calls");
  CHECK(found.at("knows_calls") == !is_dear);
  CHECK(found.at("hand_offs").empty() == is_dear);
  CHECK_FALSE(found.at("reactions").empty());
  const std::string text = sojourn_done({"threads", path});
  CHECK(text.contains("next: sojourn report"));
  CHECK(text.contains("hot functions"));
  station.finish();
}

TEST_CASE("record --auto of a command, or of a control group, looks for queues") {
  need_root();
  const bool is_command = GENERATE(true, false);
  CAPTURE(is_command);
  const test::TemporaryDirectory directory;
  const std::string path = directory.path("run.sjt");
  std::vector<std::string> argv = {"record", "--auto", "--context", "sched",
                                   "--for",  "1s",     "-o",        path};
  const ControlGroup group(is_command ? "none" : "");
  std::unique_ptr<Station> station;
  if (is_command) {
    argv.insert(argv.end(), {"--", SJ_BASESTATION});
  } else {
    if (!group.is_there()) SKIP("no control group can be made on this machine");
    station = std::make_unique<Station>();
    move(station->pid(), group.path());
    argv.insert(argv.end(), {"--cgroup", group.path()});
  }
  const test::Ended ended = sojourn(argv);
  INFO(ended.err);
  REQUIRE(ended.exit_code == 0);
  CHECK(sojourn_done({"queues", path}).contains("rlc"));
  if (station)
    station->finish();
  else
    CHECK(kill(open_trace(path).target().pid, SIGKILL) == 0);
}

TEST_CASE("how often system calls is counted, of all processes and of the targets") {
  need_root();
  std::atomic<bool> ends = false;
  std::thread caller([&ends] {
    while (!ends) syscall(SYS_getppid);
  });
  const std::vector<pid_t> busy = {getpid()};
  const auto rate = capture::measure_syscalls(busy, std::chrono::milliseconds(100));
  test::Child sleeper({"sleep", "60"});
  const std::vector<pid_t> idle = {sleeper.pid()};
  const auto none = capture::measure_syscalls(idle, std::chrono::milliseconds(100));
  ends = true;
  caller.join();
  REQUIRE(rate);
  CHECK(rate->of_targets_a_second > 1000);
  CHECK(rate->all_a_second >= rate->of_targets_a_second);
  CHECK(rate->share() > 0);
  REQUIRE(none);
  CHECK(none->of_targets_a_second < 1000);
  CHECK(none->all_a_second > 1000);
}

TEST_CASE("a trace without threads' events is refused with advice") {
  need_root();
  const test::TemporaryDirectory directory;
  const std::string path = directory.path("run.sjt");
  Station station;
  sojourn_done({"record", "-p", std::to_string(station.pid()), "--for", "100ms", "-o", path});
  station.finish();
  const test::Ended ended = sojourn({"threads", path});
  CHECK(ended.exit_code == 1);
  CHECK(ended.out.empty());
  CHECK(ended.err.contains("--auto"));
}

}  // namespace
}  // namespace sojourn::live
