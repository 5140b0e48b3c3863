// With which rights a capture runs, and whose its files are.
#include <algorithm>
#include <chrono>
#include <csignal>
#include <cstdint>
#include <filesystem>
#include <sstream>
#include <thread>
#include <vector>

#include <catch2/catch_test_macros.hpp>
#include <catch2/generators/catch_generators.hpp>
#include <linux/capability.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tests/live/programs.h"

namespace sojourn::live {
namespace {

constexpr uid_t kNobody = 65534;
const std::string kNobodyText = "65534";

struct Owner {
  uid_t uid = 0;
  gid_t gid = 0;
  mode_t mode = 0;
  bool operator==(const Owner&) const = default;
};

Owner owner_of(const std::string& path) {
  struct stat status{};
  REQUIRE(lstat(path.c_str(), &status) == 0);
  return {.uid = status.st_uid, .gid = status.st_gid, .mode = status.st_mode & 07777};
}

void give(const test::TemporaryDirectory& directory, mode_t mode) {
  REQUIRE(chown(directory.path().c_str(), kNobody, kNobody) == 0);
  REQUIRE(chmod(directory.path().c_str(), mode) == 0);
}

// As sudo would start it.
std::vector<std::string> by_sudo(const std::vector<std::string>& arguments) {
  std::vector<std::string> words = {"env", "SUDO_UID=" + kNobodyText, "SUDO_GID=" + kNobodyText,
                                    SJ_SOJOURN};
  words.insert(words.end(), arguments.begin(), arguments.end());
  return words;
}

std::string field(const std::string& status, const std::string& name) {
  std::istringstream lines(status);
  for (std::string line; std::getline(lines, line);)
    if (line.starts_with(name + ":\t")) return line.substr(name.size() + 2);
  return {};
}

// Of every thread of the process.
struct Rights {
  std::string uids;
  std::uint64_t capabilities = 0;  // it may have, whether or not it has them now
};

std::vector<Rights> rights_of(pid_t pid) {
  std::vector<Rights> rights;
  for (const auto& task :
       std::filesystem::directory_iterator("/proc/" + std::to_string(pid) + "/task")) {
    const std::string status = test::contents((task.path() / "status").string());
    rights.push_back({.uids = field(status, "Uid"),
                      .capabilities = std::stoull(field(status, "CapPrm"), nullptr, 16)});
  }
  return rights;
}

std::vector<pid_t> children_of(pid_t pid) {
  const std::string text = std::to_string(pid);
  std::istringstream numbers(test::contents("/proc/" + text + "/task/" + text + "/children"));
  std::vector<pid_t> children;
  for (pid_t child = 0; numbers >> child;) children.push_back(child);
  return children;
}

constexpr std::uint64_t bit(unsigned capability) {
  return std::uint64_t{1} << capability;
}

// What nobody needs who looks into a process and attaches to it.
constexpr std::uint64_t kNeverNeeded = bit(CAP_SYS_ADMIN) | bit(CAP_SYS_MODULE) |
                                       bit(CAP_SYS_RAWIO) | bit(CAP_SYS_BOOT) | bit(CAP_NET_ADMIN) |
                                       bit(CAP_NET_RAW) | bit(CAP_KILL) | bit(CAP_CHOWN) |
                                       bit(CAP_SETUID) | bit(CAP_SETGID) | bit(CAP_MKNOD);

}  // namespace

TEST_CASE("three capabilities are enough to record another user's process by eBPF") {
  need_root();
  const test::TemporaryDirectory directory;
  give(directory, 0700);
  test::Child subject({SJ_SUBJECT_LINKED, "1000000"});
  REQUIRE(subject.wait_for_output("ready"));
  const std::string trace = directory.path("run.sjt");
  const std::string capabilities = "+bpf,+perfmon,+sys_ptrace";
  const test::Ended ended = test::run(
      {"setpriv", "--reuid=" + kNobodyText, "--regid=" + kNobodyText, "--clear-groups",
       "--inh-caps=" + capabilities, "--ambient-caps=" + capabilities, SJ_SOJOURN, "record", "-p",
       std::to_string(subject.pid()), "--engine", "bpf", "--for", "300ms", "-o", trace});
  CAPTURE(ended.err);
  REQUIRE(ended.exit_code == 0);
  CHECK(owner_of(trace) == Owner{kNobody, kNobody, 0600});
  trace::Reader reader = open_trace(trace);
  CHECK(reader.events() > 100);
  CHECK(subject.running());
}

// What it says.
std::string record_by_sudo(const std::string& trace) {
  test::Child subject({SJ_SUBJECT_LINKED, "1000000"});
  REQUIRE(subject.wait_for_output("ready"));
  const test::Ended ended = test::run(
      by_sudo({"record", "-p", std::to_string(subject.pid()), "--for", "200ms", "-o", trace}));
  CAPTURE(ended.err);
  REQUIRE(ended.exit_code == 0);
  return ended.err;
}

TEST_CASE("a trace belongs to who called sudo") {
  need_root();
  const mode_t mode = GENERATE(0700, 01777);
  const test::TemporaryDirectory directory;
  give(directory, mode);
  const std::string trace = directory.path("run.sjt");
  CHECK_FALSE(record_by_sudo(trace).contains("will be root's"));
  CHECK(owner_of(trace) == Owner{kNobody, kNobody, 0600});
  CHECK(open_trace(trace).events() > 100);
}

TEST_CASE("where who called sudo may not write, the trace is root's, and that is said") {
  need_root();
  const test::TemporaryDirectory directory;  // root's own
  const std::string trace = directory.path("run.sjt");
  CHECK(record_by_sudo(trace).contains("will be root's: user 65534"));
  CHECK(owner_of(trace) == Owner{0, 0, 0600});
}

TEST_CASE("a dump of a flight recorder belongs to who called sudo") {
  need_root();
  const test::TemporaryDirectory directory;
  give(directory, 0700);
  test::Child subject({SJ_SUBJECT_LINKED, "1000000"});
  REQUIRE(subject.wait_for_output("ready"));
  test::Child tracer(by_sudo({"record", "-p", std::to_string(subject.pid()), "--flight", "5s", "-o",
                              directory.path("run.sjt")}));
  REQUIRE(tracer.wait_for_output("attached"));
  usleep(200'000);
  sojourn_done({"ctl", "-p", std::to_string(subject.pid()), "dump"});
  CHECK(owner_of(directory.path("run-1.sjt")) == Owner{kNobody, kNobody, 0600});
  CHECK(open_trace(directory.path("run-1.sjt")).events() > 100);
  tracer.signal(SIGINT);
  CHECK(tracer.wait().exit_code == 0);
}

TEST_CASE("a capture that runs has given up the rights that it does not need") {
  need_root();
  const std::string engine = GENERATE("ring", "bpf");
  CAPTURE(engine);
  const test::TemporaryDirectory directory;
  give(directory, 0700);
  test::Child subject({SJ_SUBJECT_LINKED, "1000000"});
  REQUIRE(subject.wait_for_output("ready"));
  test::Child tracer(by_sudo({"record", "-p", std::to_string(subject.pid()), "--engine", engine,
                              "--queues", "-o", directory.path("run.sjt")}));
  REQUIRE(tracer.wait_for_output("attached"));
  // Threads of its own give theirs up when they first run, which a busy machine puts off.
  constexpr std::uint64_t kOfNoThread = kNeverNeeded & ~(bit(CAP_SETUID) | bit(CAP_SETGID));
  const auto is_writer = [](const Rights& thread) { return thread.uids.starts_with(kNobodyText); };
  const auto has_given_up = [&](const Rights& thread) {
    return (thread.capabilities & (is_writer(thread) ? ~std::uint64_t{0} : kOfNoThread)) == 0;
  };
  std::vector<Rights> threads;
  const auto settled = [&] {
    threads = rights_of(tracer.pid());
    return std::ranges::count_if(threads, is_writer) == 1 &&
           std::ranges::all_of(threads, has_given_up);
  };
  for (int tries = 0; tries < 1000 && !settled(); ++tries)
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  for (const Rights& thread : threads) {
    CAPTURE(thread.uids, thread.capabilities);
    CHECK(has_given_up(thread));
  }
  CHECK(std::ranges::count_if(threads, is_writer) == 1);
  CHECK((rights_of(tracer.pid()).front().capabilities & kNeverNeeded) == 0);
  const std::vector<pid_t> children = children_of(tracer.pid());
  CHECK(children.size() == (engine == "bpf" ? 1 : 0));  // who holds the probes
  for (const pid_t child : children)
    for (const Rights& thread : rights_of(child)) CHECK((thread.capabilities & kNeverNeeded) == 0);
  tracer.signal(SIGINT);
  CHECK(tracer.wait().exit_code == 0);
}

}  // namespace sojourn::live
