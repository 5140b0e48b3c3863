// The rights of a capture, and the owner of its files.
#include <algorithm>
#include <chrono>
#include <csignal>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <set>
#include <sstream>
#include <string>
#include <thread>
#include <vector>

#include <catch2/catch_test_macros.hpp>
#include <catch2/generators/catch_generators.hpp>
#include <linux/capability.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tests/live/environment.h"
#include "tests/live/programs.h"
#include "userspace/tracee/process.h"

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

// Runs sojourn with the environment that sudo sets.
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

// The rights of every thread of the process.
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

// Capabilities that looking into a process and attaching to it never needs.
constexpr std::uint64_t kNeverNeeded = bit(CAP_SYS_ADMIN) | bit(CAP_SYS_MODULE) |
                                       bit(CAP_SYS_RAWIO) | bit(CAP_SYS_BOOT) | bit(CAP_NET_ADMIN) |
                                       bit(CAP_NET_RAW) | bit(CAP_KILL) | bit(CAP_CHOWN) |
                                       bit(CAP_SETUID) | bit(CAP_SETGID) | bit(CAP_MKNOD);

// Root has no other way to write anywhere.
constexpr std::uint64_t kOfRootsWriter = bit(CAP_DAC_OVERRIDE) | bit(CAP_FOWNER);

}  // namespace

TEST_CASE("three capabilities are enough to record another user's process by eBPF") {
  need_root();
  const test::TemporaryDirectory directory;
  give(directory, 0700);
  test::Child subject({SJ_SUBJECT_LINKED, "1000000"});
  REQUIRE(subject.wait_for_output("ready"));
  const std::string trace = directory.path("run.sjt");
  const std::string capabilities = "+bpf,+perfmon,+sys_ptrace";
  const test::Ended ended =
      test::run({"setpriv", "--reuid=" + kNobodyText, "--regid=" + kNobodyText, "--clear-groups",
                 "--inh-caps=" + capabilities, "--ambient-caps=" + capabilities, SJ_SOJOURN,
                 "record", "-p", std::to_string(subject.pid()), "--engine", "bpf", "--budget",
                 "none", "--for", "300ms", "-o", trace});
  CAPTURE(ended.err);
  REQUIRE(ended.exit_code == 0);
  CHECK(owner_of(trace) == Owner{kNobody, kNobody, 0600});
  trace::Reader reader = open_trace(trace);
  CHECK(reader.events() > 100);
  CHECK(subject.running());
}

// Returns the output of the capture.
std::string record_by_sudo(const std::string& trace) {
  test::Child subject({SJ_SUBJECT_LINKED, "1000000"});
  REQUIRE(subject.wait_for_output("ready"));
  const test::Ended ended = test::run(
      by_sudo({"record", "-p", std::to_string(subject.pid()), "--for", "200ms", "-o", trace}));
  CAPTURE(ended.err);
  REQUIRE(ended.exit_code == 0);
  return ended.err;
}

TEST_CASE("a trace belongs to the user who called sudo") {
  need_root();
  const mode_t mode = GENERATE(0700U, 01777U);
  const test::TemporaryDirectory directory;
  give(directory, mode);
  const std::string trace = directory.path("run.sjt");
  CHECK_FALSE(record_by_sudo(trace).contains("will be root's"));
  CHECK(owner_of(trace) == Owner{kNobody, kNobody, 0600});
  CHECK(open_trace(trace).events() > 100);
}

TEST_CASE(
    "if the user who called sudo may not write, the trace belongs to root, and that is reported") {
  need_root();
  const test::TemporaryDirectory directory;  // root's own
  const std::string trace = directory.path("run.sjt");
  CHECK(record_by_sudo(trace).contains("will be root's: user 65534"));
  CHECK(owner_of(trace) == Owner{0, 0, 0600});
}

TEST_CASE("a dump of a flight recorder belongs to the user who called sudo") {
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

// Checks the capture's own threads. The writing thread belongs to the user who called sudo, or to
// root.
void check_no_rights(pid_t tracer, bool by_root) {
  int writers = 0;
  for (const Rights& thread : rights_of(tracer)) {
    CAPTURE(thread.uids, thread.capabilities);
    const bool is_writer =
        by_root ? thread.capabilities != 0 : thread.uids.starts_with(kNobodyText);
    writers += is_writer ? 1 : 0;
    CHECK((thread.capabilities & ~(is_writer && by_root ? kOfRootsWriter : 0)) == 0);
  }
  CHECK(writers == 1);
}

TEST_CASE("a capture has no rights any more when it says that it is attached") {
  need_root();
  const std::string engine = GENERATE("ring", "bpf");
  const bool by_root = GENERATE(false, true);
  CAPTURE(engine, by_root);
  const test::TemporaryDirectory directory;
  if (!by_root) give(directory, 0700);
  test::Child subject({SJ_SUBJECT_LINKED, "1000000"});
  REQUIRE(subject.wait_for_output("ready"));
  const std::vector<std::string> record = {
      "record",   "-p", std::to_string(subject.pid()), "--engine", engine, "--budget", "none",
      "--queues", "-o", directory.path("run.sjt")};
  std::vector<std::string> plain = record;
  plain.insert(plain.begin(), SJ_SOJOURN);
  test::Child tracer(by_root ? plain : by_sudo(record));
  REQUIRE(tracer.wait_for_output("attached"));
  check_no_rights(tracer.pid(), by_root);
  // The privileged helper, and below it the probe keeper, have the rights for attaching.
  const std::vector<pid_t> children = children_of(tracer.pid());
  REQUIRE(children.size() == 1);
  CHECK((rights_of(children.front()).front().capabilities & bit(CAP_SYS_PTRACE)) != 0);
  const std::vector<pid_t> keepers = children_of(children.front());
  CHECK(keepers.size() == (engine == "bpf" ? 1 : 0));
  for (const pid_t keeper : keepers)
    CHECK((rights_of(keeper).front().capabilities & kNeverNeeded) == 0);
  CHECK((rights_of(children.front()).front().capabilities & kNeverNeeded) == 0);
  tracer.signal(SIGINT);
  CHECK(tracer.wait().exit_code == 0);
}

TEST_CASE("a recorder that waits beside flight rings has no rights any more, and can write") {
  need_root();
  const bool by_root = GENERATE(false, true);
  CAPTURE(by_root);
  const test::TemporaryDirectory directory;
  if (!by_root) give(directory, 0700);
  std::optional<Environment> flight(std::in_place, "SJ_RINGS", "flight");
  test::Child subject({"setpriv", "--reuid=" + kNobodyText, "--regid=" + kNobodyText,
                       "--clear-groups", SJ_SUBJECT_LINKED, "1000000"});
  flight.reset();
  REQUIRE(subject.wait_for_output("ready"));
  const std::string pid = std::to_string(subject.pid());
  std::vector<std::string> record = {
      "record", "-p", pid, "--flight", "rings", "-o", directory.path("run.sjt")};
  std::vector<std::string> plain = record;
  plain.insert(plain.begin(), SJ_SOJOURN);
  test::Child tracer(by_root ? plain : by_sudo(record));
  REQUIRE(tracer.wait_for_output("waiting"));
  check_no_rights(tracer.pid(), by_root);
  CHECK(children_of(tracer.pid()).size() == 1);
  usleep(100'000);
  sojourn_done({"ctl", "-p", pid, "dump"});
  tracer.signal(SIGINT);
  CHECK(tracer.wait().exit_code == 0);
  const Owner expected = by_root ? Owner{0, 0, 0600} : Owner{kNobody, kNobody, 0600};
  for (const char* name : {"run-1.sjt", "run.sjt"}) {
    CHECK(owner_of(directory.path(name)) == expected);
    CHECK(open_trace(directory.path(name)).events() > 100);
  }
}

TEST_CASE(
    "a library or child that another user's process loads or forks later is recorded without "
    "rights") {
  need_root();
  const std::string engine = GENERATE("ring", "bpf");
  const bool is_child = GENERATE(false, true);
  CAPTURE(engine, is_child);
  const test::TemporaryDirectory directory;
  std::vector<std::string> command = {"setpriv", "--reuid=" + kNobodyText, "--regid=" + kNobodyText,
                                      "--clear-groups"};
  command.emplace_back(is_child ? SJ_SUBJECT_FAMILY : SJ_SUBJECT_LOADER);
  if (!is_child) command.emplace_back(SJ_SUBJECT_LIBRARY);
  test::Child subject(command);
  REQUIRE(subject.wait_for_output("ready"));
  std::vector<std::string> record = {
      SJ_SOJOURN, "record", "-p", std::to_string(subject.pid()), "--engine", engine,
      "--budget", "none",   "-o", directory.path("run.sjt")};
  if (is_child) record.emplace_back("--follow");
  test::Child tracer(record);
  REQUIRE(tracer.wait_for_output("attached"));
  subject.signal(SIGUSR1);
  REQUIRE(tracer.wait_for_output(is_child ? "was forked: " : "has loaded "));
  check_no_rights(tracer.pid(), true);
  usleep(100'000);
  tracer.signal(SIGINT);
  const test::Ended ended = tracer.wait();
  CAPTURE(ended.err);
  CHECK(ended.exit_code == 0);
  CHECK_FALSE(ended.err.contains("not recorded"));
  trace::Reader reader = open_trace(directory.path("run.sjt"));
  CHECK(reader.ledger().empty());
  std::set<std::string> hit;
  std::set<std::uint32_t> threads;
  REQUIRE(reader.merge([&](const model::EventBatch& batch) {
    for (std::size_t row = 0; row < batch.size(); ++row) {
      hit.insert(reader.schema().points[batch.point()[row]].name());
      threads.insert(batch.tid()[row]);
    }
    return true;
  }));
  CHECK(hit.size() == (is_child ? 1 : 2));
  CHECK(threads.size() == (is_child ? 2 : 1));
}

// The process, and all below it.
std::vector<pid_t> family_of(pid_t pid) {
  std::vector<pid_t> family = {pid};
  for (std::size_t next = 0; next < family.size(); ++next)
    for (const pid_t child : children_of(family[next])) family.push_back(child);
  return family;
}

TEST_CASE("the privileged helper ends with the capture, for every kind of end") {
  need_root();
  const int how = GENERATE(SIGINT, SIGKILL);
  const std::string engine = GENERATE("ring", "bpf");
  CAPTURE(how, engine);
  const test::TemporaryDirectory directory;
  test::Child subject({SJ_SUBJECT_LINKED, "1000000"});
  REQUIRE(subject.wait_for_output("ready"));
  test::Child tracer({SJ_SOJOURN, "record", "-p", std::to_string(subject.pid()), "--engine", engine,
                      "--budget", "none", "-o", directory.path("run.sjt")});
  REQUIRE(tracer.wait_for_output("attached"));
  const std::vector<pid_t> family = family_of(tracer.pid());
  CHECK(family.size() == (engine == "bpf" ? 3 : 2));
  tracer.signal(how);
  tracer.wait();
  // Processes that have ended and were not waited for do not count.
  const auto is_left = [](pid_t pid) {
    const auto process = tracee::Process::open(pid);
    return process && process->comm().starts_with("sj-");
  };
  const auto any_left = [&] { return std::ranges::any_of(family, is_left); };
  if (how == SIGINT) CHECK_FALSE(any_left());
  for (int tries = 0; tries < 1000 && any_left(); ++tries)
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  CHECK_FALSE(any_left());
  CHECK(subject.running());
}

TEST_CASE("a capture whose probes or privileged helper were killed reports that") {
  need_root();
  const bool are_probes = GENERATE(false, true);
  CAPTURE(are_probes);
  const test::TemporaryDirectory directory;
  const std::string trace = directory.path("run.sjt");
  test::Child subject({SJ_SUBJECT_LINKED, "1000000"});
  REQUIRE(subject.wait_for_output("ready"));
  test::Child tracer({SJ_SOJOURN, "record", "-p", std::to_string(subject.pid()), "--engine", "bpf",
                      "--budget", "none", "-o", trace});
  REQUIRE(tracer.wait_for_output("attached"));
  const pid_t helper = children_of(tracer.pid()).front();
  kill(are_probes ? children_of(helper).front() : helper, SIGKILL);
  REQUIRE(tracer.wait_for_output(are_probes ? "holds the probes was killed"
                                            : "keeps the rights was killed"));
  tracer.signal(SIGINT);
  CHECK(tracer.wait().exit_code == (are_probes ? 1 : 0));
  CHECK(open_trace(trace).capture().unarmed.size() == (are_probes ? 1 : 0));
  CHECK(open_trace(trace).events() > 0);
}

}  // namespace sojourn::live
