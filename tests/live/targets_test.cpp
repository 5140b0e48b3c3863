// Several processes in one capture: side by side, those of a control group, and those that come and
// go.
#include <algorithm>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include <catch2/catch_test_macros.hpp>
#include <catch2/generators/catch_generators.hpp>
#include <fcntl.h>
#include <linux/sched.h>
#include <nlohmann/json.hpp>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/live/control_group.h"
#include "tests/live/point_hits.h"
#include "tests/live/programs.h"

namespace sojourn::live {
namespace {

using nlohmann::json;

std::set<pid_t> pids_of(const trace::Reader& reader) {
  std::set<pid_t> pids;
  for (const model::Target& target : reader.targets()) pids.insert(target.pid);
  return pids;
}

std::string number(pid_t pid) {
  return std::to_string(pid);
}

// A program under a pid that is free.
pid_t start_as(pid_t pid, const char* program) {
  clone_args how{};
  how.exit_signal = SIGCHLD;
  how.set_tid = reinterpret_cast<std::uintptr_t>(&pid);
  how.set_tid_size = 1;
  const auto child = static_cast<pid_t>(syscall(SYS_clone3, &how, sizeof(how)));
  if (child != 0) return child;
  const int nowhere = open("/dev/null", O_WRONLY);
  dup2(nowhere, STDOUT_FILENO);
  execl(program, program, "100000", nullptr);
  _exit(1);
}

TEST_CASE("two copies of one program are recorded side by side, and never mixed up") {
  need_root();
  const std::string engine = GENERATE("ring", "bpf");
  CAPTURE(engine);
  const test::TemporaryDirectory directory;
  const std::string trace = directory.path("run.sjt");
  test::Child first({SJ_SUBJECT_LINKED, "100000"});
  test::Child second({SJ_SUBJECT_LINKED, "100000"});
  test::Child bystander({SJ_SUBJECT_LINKED, "100000"});
  REQUIRE(first.wait_for_output("ready"));
  REQUIRE(second.wait_for_output("ready"));
  REQUIRE(bystander.wait_for_output("ready"));
  const test::Ended ended =
      sojourn({"record", "-p", number(first.pid()), "-p", number(second.pid()), "--for", "500ms",
               "-o", trace, "--engine", engine, "--budget", "none"});
  CAPTURE(ended.err);
  REQUIRE(ended.exit_code == 0);
  CHECK(ended.err.contains("attached 4 points at 4 sites of 2 processes"));

  const trace::Reader reader = open_trace(trace);
  CHECK(pids_of(reader) == std::set<pid_t>{first.pid(), second.pid()});
  CHECK(reader.schema().points.size() == 2);
  for (const model::Target& target : reader.targets()) {
    CHECK(target.since_ns == 0);
    CHECK(target.until_ns == 0);
    CHECK_FALSE(target.build_id.empty());
  }
  trace::Reader events = open_trace(trace);
  const auto hits = hits_by_process(events, "linked.in--library.in");
  REQUIRE(hits.size() == 2);
  for (const auto& [pid, own] : hits) {
    CAPTURE(pid);
    CHECK((pid == first.pid() || pid == second.pid()));
    CHECK(own.counts.size() > 100);
    CHECK(is_gapless(own));
  }

  // Their units have the same numbers at the same time.
  const json report = json::parse(sojourn_done({"report", trace, "--json"}));
  REQUIRE(report["targets"].size() == 2);
  CHECK(report["target"]["pid"] == report["targets"][0]["pid"]);
  const json& journeys = report["journeys"]["D"];
  CHECK(journeys["ambiguous"] == 0);
  CHECK(journeys["incomplete"] == 0);
  CHECK(journeys["complete"].get<int>() + journeys["censored"].get<int>() ==
        journeys["count"].get<int>());
  CHECK(journeys["complete"].get<std::size_t>() + 4 >=
        hits.begin()->second.counts.size() + hits.rbegin()->second.counts.size());
}

// Returns once the capture of that process has any.
void wait_for_events(pid_t pid) {
  for (int tries = 0; tries < 1000; ++tries) {
    if (!sojourn_done({"ctl", "-p", number(pid), "status"}).contains(" 0 events")) return;
    usleep(10'000);
  }
  FAIL("the capture of process " << pid << " has no events");
}

TEST_CASE("recording one of two containers of an image does not touch the other") {
  need_root();
  const test::TemporaryDirectory directory;
  const std::vector<std::string> container = {"unshare",      "--mount",         "--pid", "--fork",
                                              "--kill-child", SJ_SUBJECT_VALUES, "60"};
  test::Child chosen(container);
  test::Child other(container);
  REQUIRE(chosen.wait_for_output("ready"));
  REQUIRE(other.wait_for_output("ready"));
  const auto inside = [](const test::Child& outer) {
    const std::string tasks = "/proc/" + number(outer.pid()) + "/task/" + number(outer.pid());
    return static_cast<pid_t>(std::stoi(test::contents(tasks + "/children")));
  };
  const pid_t other_pid = inside(other);
  test::Child tracer({SJ_SOJOURN, "record", "-p", number(inside(chosen)), "--engine", "bpf",
                      "--budget", "none", "-o", directory.path("run.sjt")});
  REQUIRE(tracer.wait_for_output("attached"));
  constexpr unsigned char kNop = 0x90;
  for (const unsigned char byte : site_bytes(other_pid, points_of(other_pid))) CHECK(byte == kNop);
  wait_for_events(inside(chosen));
  tracer.signal(SIGINT);
  REQUIRE(tracer.wait().exit_code == 0);
  CHECK(open_trace(directory.path("run.sjt")).events() > 0);
}

// Two copies of one program, recorded together.
struct BriefAndLasting {
  explicit BriefAndLasting(const std::vector<std::string>& how) {
    REQUIRE(brief.wait_for_output("ready"));
    REQUIRE(lasting.wait_for_output("ready"));
    std::vector<std::string> record = {
        SJ_SOJOURN, "record", "-p", number(brief.pid()) + "," + number(lasting.pid()), "-o", trace};
    record.insert(record.end(), how.begin(), how.end());
    tracer.emplace(record);
    REQUIRE(tracer->wait_for_output("attached"));
  }

  void end_brief() {
    usleep(50'000);
    brief.signal(SIGTERM);
    brief.wait();
    REQUIRE(tracer->wait_for_output("has ended, 1 process left"));
  }

  test::TemporaryDirectory directory;
  const std::string trace = directory.path("run.sjt");
  test::Child brief{{SJ_SUBJECT_LINKED, "100000"}};
  test::Child lasting{{SJ_SUBJECT_LINKED, "100000"}};
  std::optional<test::Child> tracer;
};

TEST_CASE("a capture goes on until its last process has ended, and says when the others do") {
  need_root();
  const std::string engine = GENERATE("ring", "bpf");
  CAPTURE(engine);
  BriefAndLasting both({"--engine", engine, "--budget", "none"});
  both.end_brief();
  const pid_t brief = both.brief.pid();
  const pid_t lasting = both.lasting.pid();
  // By the pid of either while both live; by the one that is left now.
  CHECK(sojourn({"ctl", "-p", number(lasting), "flush"}).exit_code == 0);
  CHECK(sojourn({"ctl", "-p", number(brief), "flush"}).exit_code == 1);
  both.lasting.signal(SIGTERM);
  both.lasting.wait();
  const test::Ended ended = both.tracer->wait();
  CAPTURE(ended.err);
  REQUIRE(ended.exit_code == 0);
  CHECK(ended.err.contains("ended by target exit"));

  const trace::Reader reader = open_trace(both.trace);
  for (const model::Target& target : reader.targets())
    CHECK((target.until_ns != 0) == (target.pid == brief));
  trace::Reader events = open_trace(both.trace);
  const auto hits = hits_by_process(events, "linked.in--library.in");
  REQUIRE(hits.size() == 2);
  CHECK(is_gapless(hits.at(brief)));
  CHECK(is_gapless(hits.at(lasting)));
}

TEST_CASE("a process that gets the pid of an ended recorded process is not recorded") {
  need_root();
  const std::vector<std::string> how =
      GENERATE(std::vector<std::string>{"--engine", "ring"},
               std::vector<std::string>{"--attach", "multi", "--budget", "none"},
               std::vector<std::string>{"--attach", "perf", "--budget", "none"});
  CAPTURE(how);
  BriefAndLasting both(how);
  both.end_brief();
  const pid_t heir = start_as(both.brief.pid(), SJ_SUBJECT_LINKED);
  REQUIRE(heir == both.brief.pid());
  usleep(300'000);
  CHECK(kill(heir, SIGKILL) == 0);
  waitpid(heir, nullptr, 0);
  both.tracer->signal(SIGINT);
  const test::Ended ended = both.tracer->wait();
  CAPTURE(ended.err);
  REQUIRE(ended.exit_code == 0);

  trace::Reader reader = open_trace(both.trace);
  CHECK(reader.targets().size() == 2);
  const auto hits = hits_by_process(reader, "linked.in--library.in");
  CHECK(hits.at(heir).counts.size() > 5);
  CHECK(is_gapless(hits.at(heir)));  // the heir counts from 0 again
  CHECK(is_gapless(hits.at(both.lasting.pid())));
}

TEST_CASE("a process that a debugger has attached to is recorded like any other") {
  need_root();
  const std::string engine = GENERATE("ring", "bpf");
  CAPTURE(engine);
  const test::TemporaryDirectory directory;
  const std::string trace = directory.path("run.sjt");
  test::Child subject({SJ_SUBJECT_LINKED, "100000"});
  REQUIRE(subject.wait_for_output("ready"));
  REQUIRE(ptrace(PTRACE_SEIZE, subject.pid(), nullptr, nullptr) == 0);
  const test::Ended ended = sojourn({"record", "-p", number(subject.pid()), "--engine", engine,
                                     "--budget", "none", "--for", "300ms", "-o", trace});
  CAPTURE(ended.err);
  REQUIRE(ended.exit_code == 0);
  {
    trace::Reader reader = open_trace(trace);
    const auto hits = hits_by_process(reader, "linked.in--library.in");
    CHECK(hits.at(subject.pid()).counts.size() > 50);
    CHECK(is_gapless(hits.at(subject.pid())));
  }

  // While a debugger holds the process, nothing can be recorded, and the error says so.
  REQUIRE(ptrace(PTRACE_INTERRUPT, subject.pid(), nullptr, nullptr) == 0);
  REQUIRE(waitpid(subject.pid(), nullptr, __WALL) == subject.pid());
  const test::Ended held =
      sojourn({"record", "-p", number(subject.pid()), "--engine", engine, "--budget", "none",
               "--for", "100ms", "-o", directory.path("held.sjt")});
  CHECK(held.exit_code == 0);
  CHECK(held.err.contains("is stopped"));
  CHECK(ptrace(PTRACE_DETACH, subject.pid(), nullptr, nullptr) == 0);
  CHECK(subject.running());
}

TEST_CASE("ctl reaches a capture by the pid of any of its processes") {
  need_root();
  const test::TemporaryDirectory directory;
  test::Child first({SJ_SUBJECT_VALUES, "60"});
  test::Child second({SJ_SUBJECT_VALUES, "60"});
  REQUIRE(first.wait_for_output("ready"));
  REQUIRE(second.wait_for_output("ready"));
  test::Child tracer({SJ_SOJOURN, "record", "-p", number(first.pid()), "-p", number(second.pid()),
                      "-o", directory.path("run.sjt")});
  REQUIRE(tracer.wait_for_output("attached"));
  CHECK(sojourn_done({"ctl", "-p", number(first.pid()), "flush"}) == "flushed\n");
  CHECK(sojourn_done({"ctl", "-p", number(second.pid()), "stop"}) == "stopping\n");
  CHECK(tracer.wait().exit_code == 0);
}

TEST_CASE("a cgroup's processes are recorded, those below it and those that come as well") {
  need_root();
  const std::string version = GENERATE("", "freezer");
  const std::vector<std::string> how =
      GENERATE(std::vector<std::string>{"--engine", "ring"},
               std::vector<std::string>{"--engine", "bpf", "--budget", "none"},
               std::vector<std::string>{"--attach", "perf", "--budget", "none"});
  CAPTURE(version, how);
  const ControlGroup group(version);
  if (!group.is_there())
    SKIP("no cgroup can be made in a hierarchy of version " << (version.empty() ? "2" : "1")
                                                            << " on this machine");
  const test::TemporaryDirectory directory;
  const std::string trace = directory.path("run.sjt");
  test::Child inside({SJ_SUBJECT_LINKED, "100000"});
  test::Child below({SJ_SUBJECT_LINKED, "100000"});
  test::Child outside({SJ_SUBJECT_LINKED, "100000"});
  test::Child plain({"sleep", "100"});
  REQUIRE(inside.wait_for_output("ready"));
  REQUIRE(below.wait_for_output("ready"));
  REQUIRE(outside.wait_for_output("ready"));
  move(plain.pid(), group.path());
  move(inside.pid(), group.path());
  move(below.pid(), group.below());
  std::vector<std::string> record = {SJ_SOJOURN, "record", "--cgroup", group.path(), "-o", trace};
  record.insert(record.end(), how.begin(), how.end());
  test::Child tracer(record);
  REQUIRE(tracer.wait_for_output("of 2 processes"));

  test::Child late({SJ_SUBJECT_LINKED, "100000"});
  REQUIRE(late.wait_for_output("ready"));
  move(late.pid(), group.path());
  REQUIRE(tracer.wait_for_output("process " + number(late.pid())));
  REQUIRE(sojourn_done({"ctl", "-p", number(late.pid()), "flush"}) == "flushed\n");
  late.signal(SIGTERM);  // its group must be empty before it can be removed
  late.wait();
  inside.signal(SIGTERM);
  inside.wait();
  below.signal(SIGTERM);
  below.wait();
  const test::Ended ended = tracer.wait();
  plain.signal(SIGKILL);
  plain.wait();
  CAPTURE(ended.err);
  REQUIRE(ended.exit_code == 0);

  const trace::Reader reader = open_trace(trace);
  CHECK(pids_of(reader) == std::set<pid_t>{inside.pid(), below.pid(), late.pid()});
  trace::Reader events = open_trace(trace);
  const auto hits = hits_by_process(events, "linked.in--library.in");
  REQUIRE(hits.size() == 3);
  for (const auto& [pid, own] : hits) {
    CAPTURE(pid);
    CHECK(is_gapless(own));
  }
  REQUIRE(reader.capture().unarmed.size() == 1);
  const model::UnarmedSpan& unarmed = reader.capture().unarmed.front();
  CHECK(unarmed.pid == late.pid());
  CHECK(unarmed.point == model::kNoPoint);
  CHECK(unarmed.from_ns < unarmed.until_ns);
  for (const model::Target& target : reader.targets())
    CHECK(target.since_ns == (target.pid == late.pid() ? unarmed.until_ns : 0));
  CHECK(sojourn_done({"report", trace})
            .contains("not armed yet: the points of process " + number(late.pid())));
}

TEST_CASE("a process and a child that it forked before are recorded together") {
  need_root();
  const std::string engine = GENERATE("ring", "bpf");
  CAPTURE(engine);
  const test::TemporaryDirectory directory;
  const std::string trace = directory.path("run.sjt");
  test::Child parent({SJ_SUBJECT_FAMILY});
  REQUIRE(parent.wait_for_output("ready"));
  const std::string children =
      "/proc/" + number(parent.pid()) + "/task/" + number(parent.pid()) + "/children";
  parent.signal(SIGUSR1);
  while (test::contents(children).empty()) usleep(1000);
  const pid_t child = static_cast<pid_t>(std::stoi(test::contents(children)));
  const test::Ended ended =
      sojourn({"record", "-p", number(parent.pid()), "-p", number(child), "--for", "500ms", "-o",
               trace, "--engine", engine, "--budget", "none"});
  CAPTURE(ended.err);
  REQUIRE(ended.exit_code == 0);
  trace::Reader events = open_trace(trace);
  const auto hits = hits_by_process(events, "family.in--family.out", 1);
  REQUIRE(hits.size() == 2);
  for (const auto& [pid, own] : hits) {
    CAPTURE(pid);
    CHECK((pid == parent.pid() || pid == child));
    CHECK(own.counts.size() > 100);
    CHECK(is_gapless(own));
  }
}

TEST_CASE("queues of two processes are distinguished") {
  need_root();
  const test::TemporaryDirectory directory;
  const std::string trace = directory.path("run.sjt");
  Station first;
  Station second;
  sojourn_done({"record", "-p", number(first.pid()), "-p", number(second.pid()), "--queues",
                "--for", "500ms", "-o", trace});
  const json queues = json::parse(sojourn_done({"queues", trace, "--json"}));
  std::map<std::string, int> names;
  std::set<std::string> ids;
  for (const json& queue : queues["queues"]) {
    ++names[queue["name"].get<std::string>()];
    CHECK(ids.insert(queue["id"].get<std::string>()).second);
    CHECK(queue["samples"].get<int>() > 0);
  }
  CHECK(names.size() > 5);
  for (const auto& [name, times] : names) {
    CAPTURE(name);
    CHECK(times == 2);
  }
}

TEST_CASE("the kernel's doings with the threads of two processes are in one trace") {
  need_root();
  const test::TemporaryDirectory directory;
  const std::string trace = directory.path("run.sjt");
  test::Child first({SJ_SUBJECT_LINKED, "100000"});
  test::Child second({SJ_SUBJECT_LINKED, "100000"});
  REQUIRE(first.wait_for_output("ready"));
  REQUIRE(second.wait_for_output("ready"));
  const test::Ended ended =
      sojourn({"record", "-p", number(first.pid()), "-p", number(second.pid()), "--context",
               "sched", "--for", "500ms", "-o", trace});
  CAPTURE(ended.err);
  REQUIRE(ended.exit_code == 0);
  const json report = json::parse(sojourn_done({"report", trace, "--json"}));
  std::set<pid_t> threads;
  for (const json& thread : report["context"]["threads"])
    if (thread["switches"].get<int>() > 50) threads.insert(thread["tid"].get<pid_t>());
  CHECK(threads == std::set<pid_t>{first.pid(), second.pid()});
}

TEST_CASE("an error names the one of several processes that cannot be recorded") {
  need_root();
  const test::TemporaryDirectory directory;
  test::Child subject({SJ_SUBJECT_VALUES, "60"});
  test::Child plain({"sleep", "60"});
  REQUIRE(subject.wait_for_output("ready"));
  const auto refused = [&](std::vector<std::string> arguments) {
    arguments.insert(arguments.begin(), "record");
    arguments.insert(arguments.end(), {"-o", directory.path("run.sjt")});
    const test::Ended ended = sojourn(std::move(arguments));
    CHECK(ended.exit_code == 1);
    CHECK_FALSE(std::filesystem::exists(directory.path("run.sjt")));
    return ended.err;
  };
  CHECK(refused({"-p", number(subject.pid()), "-p", "999999999"}).contains("no process 999999999"));
  CHECK(refused({"-p", number(subject.pid()) + "," + number(plain.pid())})
            .contains("process " + number(plain.pid()) + " (sleep) has no points"));
  CHECK(refused({"--cgroup", "/no/such/group"}).contains("no cgroup /no/such/group"));
  CHECK(refused({"--cgroup", "/tmp"}).contains("/tmp is no cgroup"));
  const ControlGroup group("");
  if (!group.is_there()) return;
  CHECK(refused({"--cgroup", group.path()}).contains("none has points"));
}

}  // namespace
}  // namespace sojourn::live
