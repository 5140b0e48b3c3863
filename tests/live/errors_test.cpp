// Failures of attaching have errors of one line with advice.
#include <algorithm>
#include <csignal>
#include <filesystem>
#include <fstream>

#include <catch2/catch_test_macros.hpp>
#include <sys/mount.h>

#include "tests/live/programs.h"

namespace sojourn::live {
namespace {

// Failed, with exactly one line on stderr, which holds the words.
void check_one_line(const test::Ended& ended, int exit_code, const std::string& words) {
  CAPTURE(ended.err);
  CHECK(ended.exit_code == exit_code);
  CHECK(std::ranges::count(ended.err, '\n') == 1);
  CHECK(ended.err.starts_with("sojourn: "));
  CHECK(ended.err.contains(words));
  CHECK(ended.out.empty());
}

TEST_CASE("a process that does not exist is named") {
  check_one_line(sojourn({"record", "-p", "4194304", "-o", "/dev/null"}), 1, "4194304");
}

TEST_CASE("a process without points is reported with ways to get some") {
  need_root();
  test::Child sleeper({"sleep", "60"});
  const test::TemporaryDirectory directory;
  check_one_line(
      sojourn({"record", "-p", std::to_string(sleeper.pid()), "-o", directory.path("run.sjt")}), 1,
      "sojourn/point.h");
}

TEST_CASE("a user without rights gets a list of the missing ones") {
  need_root();
  test::Child subject({SJ_SUBJECT_VALUES, "60"});
  REQUIRE(subject.wait_for_output("ready"));
  const std::string pid = std::to_string(subject.pid());
  SECTION("to look into another's process") {
    const test::Ended ended =
        test::run({"setpriv", "--reuid", "65534", "--regid", "65534", "--clear-groups", SJ_SOJOURN,
                   "record", "-p", pid, "-o", "/tmp/never.sjt"});
    check_one_line(ended, 1, "root");
  }
  SECTION("to load BPF programs") {
    const test::TemporaryDirectory directory;
    const test::Ended ended =
        test::run({"setpriv", "--bounding-set", "-sys_admin,-bpf,-perfmon", "--inh-caps",
                   "-sys_admin,-bpf,-perfmon", SJ_SOJOURN, "record", "-p", pid, "--engine", "bpf",
                   "-o", directory.path("run.sjt")});
    check_one_line(ended, 1, "CAP_BPF");
  }
}

TEST_CASE(
    "a target that is gone while attaching is reported as that, and an older trace is left alone") {
  need_root();
  const test::TemporaryDirectory directory;
  const std::string trace = directory.path("run.sjt");
  int told = 0;
  int told_while_attaching = 0;
  int captured = 0;
  // How long attaching takes depends on the machine.
  constexpr int kSoonUs = 60'000;
  for (int delay_us = 0; delay_us < kSoonUs || (captured == 0 && delay_us < 50 * kSoonUs);
       delay_us += delay_us < kSoonUs ? 1000 : kSoonUs) {
    std::ofstream(trace) << "older";
    test::Child subject({SJ_SUBJECT_VALUES, "60"});
    REQUIRE(subject.wait_for_output("ready"));
    test::Child tracer({SJ_SOJOURN, "record", "-p", std::to_string(subject.pid()), "-o", trace});
    usleep(static_cast<useconds_t>(delay_us));
    const bool attaching = std::filesystem::exists(trace + ".partial");
    subject.signal(SIGKILL);
    const test::Ended ended = tracer.wait();
    CAPTURE(delay_us);
    CHECK_FALSE(std::filesystem::exists(trace + ".partial"));
    // Either it came too late to attach, or it attached and saw the target go.
    if (ended.exit_code == 0) {
      CHECK(open_trace(trace).capture().ended_by == "target exit");
      ++captured;
      continue;
    }
    check_one_line(ended, 1, std::to_string(subject.pid()));
    CHECK(test::contents(trace) == "older");
    ++told;
    told_while_attaching += attaching ? 1 : 0;
  }
  CAPTURE(told, told_while_attaching, captured);
  CHECK(told > 0);
  CHECK(captured > 0);
}

TEST_CASE("a command that cannot be run is reported as that, and an older trace is left alone") {
  need_root();
  const test::TemporaryDirectory directory;
  const std::string trace = directory.path("run.sjt");
  std::ofstream(trace) << "older";
  const std::string broken = directory.path("broken");
  // Executable by its mode and its points, but for another machine.
  std::filesystem::copy_file(SJ_SUBJECT_VALUES, broken);
  {
    std::fstream file(broken, std::ios::in | std::ios::out | std::ios::binary);
    file.seekp(16);  // e_type
    file.put('\x01');
  }
  const test::Ended ended = sojourn({"record", "-o", trace, "--", broken});
  CAPTURE(ended.err);
  CHECK(ended.exit_code == 1);
  CHECK(ended.err.contains(broken));
  CHECK(test::contents(trace) == "older");
  CHECK_FALSE(std::filesystem::exists(trace + ".partial"));
}

TEST_CASE("wrong usage is exit code 2, with the reason") {
  for (const std::vector<std::string>& arguments :
       std::vector<std::vector<std::string>>{{"--"},
                                             {"nonsense"},
                                             {"record", "--for", "10 parsecs", "-p", "1"},
                                             {"record", "-p", "-5"},
                                             {"record", "--ring-size", "7Q", "-p", "1"},
                                             {"record", "-p", "1", "-o", ""},
                                             {"record", "-p", "1", "-o", "-"},
                                             {"record", "-p", "1", "--", "true"},
                                             {"list"},
                                             {"list", "-p", "1", "/bin/true"},
                                             {"report", "run.sjt", "--explain-rules", "--json"},
                                             {"record"}}) {
    const test::Ended ended = sojourn(arguments);
    CAPTURE(ended.err);
    CHECK(ended.exit_code == 2);
    CHECK(!ended.err.empty());
    CHECK(ended.out.empty());
  }
}

TEST_CASE("a process and a command at once are refused in plain words") {
  CHECK(sojourn({"record", "-p", "1", "--", "true"}).err.contains("either a running process"));
}

TEST_CASE("a directory that does not exist is named, and the target is left alone") {
  need_root();
  test::Child subject({SJ_SUBJECT_VALUES, "60"});
  REQUIRE(subject.wait_for_output("ready"));
  check_one_line(sojourn({"record", "-p", std::to_string(subject.pid()), "-o", "/nowhere/run.sjt"}),
                 1, "/nowhere/run.sjt");
}

class SmallDisk {
 public:
  explicit SmallDisk(std::string path) : path_(std::move(path)) {
    std::filesystem::create_directory(path_);
    REQUIRE(mount("tmpfs", path_.c_str(), "tmpfs", 0, "size=200k") == 0);
  }
  ~SmallDisk() { umount2(path_.c_str(), MNT_DETACH); }
  SmallDisk(const SmallDisk&) = delete;
  SmallDisk& operator=(const SmallDisk&) = delete;

 private:
  std::string path_;
};

TEST_CASE("a full disk ends the capture; earlier events can be read") {
  need_root();
  const test::TemporaryDirectory directory;
  const SmallDisk disk(directory.path("disk"));
  const std::string trace = directory.path("disk/run.sjt");
  Station station;
  const test::Ended ended =
      sojourn({"record", "-p", std::to_string(station.pid()), "--for", "20s", "-q", "-o", trace});
  check_one_line(ended, 1, "No space left on device");
  CHECK(ended.err.contains(trace));
  trace::Reader reader = open_trace(trace + ".partial");
  CHECK(reader.events() > 1000);
  CHECK(reader.damage().empty());
  CHECK(station.running());
}

TEST_CASE("a file that may not grow ends the capture as a full disk does") {
  need_root();
  const test::TemporaryDirectory directory;
  const std::string trace = directory.path("run.sjt");
  Station station;
  const test::Ended ended =
      test::run({"sh", "-c",
                 "ulimit -f 200; exec '" SJ_SOJOURN "' record -p " + std::to_string(station.pid()) +
                     " --for 20s -q -o '" + trace + "'"});
  check_one_line(ended, 1, "File too large");
  CHECK(ended.err.contains(trace));
  CHECK(open_trace(trace + ".partial").events() > 1000);
  CHECK(station.running());
}

}  // namespace
}  // namespace sojourn::live
