// The traceable processes, on a /proc that is made of plain files.
#include "userspace/tracee/running_programs.h"

#include <algorithm>
#include <chrono>
#include <filesystem>

#include <catch2/catch_test_macros.hpp>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "subject.h"

using namespace sojourn;
using tracee::RunningProgram;
using tracee::RunningPrograms;

namespace {

namespace fs = std::filesystem;

constexpr auto kTimeout = std::chrono::seconds(20);

class MadeUpProc {
 public:
  MadeUpProc() {
    add(1, "init", "/bin/sh");
    test::write_contents(directory_.path("version"), "no process");
  }

  std::string path() const { return directory_.path(); }
  std::string path(int pid, const std::string& name) const {
    return directory_.path(fmt::format("{}/{}", pid, name));
  }

  // A process of that executable; it has also mapped the libraries.
  void add(int pid, const std::string& comm, const std::string& exe,
           std::vector<std::string> libraries = {}, unsigned flags = 0, char state = 'S') const {
    fs::create_directories(directory_.path(std::to_string(pid)));
    test::write_contents(path(pid, "stat"),
                         fmt::format("{} ({}) {} 1 1 1 0 -1 {} {}\n", pid, comm, state, flags,
                                     fmt::join(std::vector<int>(43, 7), " ")));
    fs::create_symlink("/", path(pid, "root"));
    if (!exe.empty()) fs::create_symlink(exe, path(pid, "exe"));
    std::string maps;
    if (!exe.empty()) libraries.insert(libraries.begin(), exe);
    for (const std::string& file : libraries) maps += mapping(file);
    test::write_contents(path(pid, "maps"), maps);
  }

  RunningPrograms find(const std::vector<std::string>& names,
                       std::chrono::milliseconds timeout = kTimeout) const {
    auto programs = tracee::find_running_programs(path(), names, timeout);
    if (!programs) FAIL(programs.error().text());
    return std::move(*programs);
  }

 private:
  static std::string mapping(const std::string& file) {
    struct stat status{};
    REQUIRE(stat(file.c_str(), &status) == 0);
    return fmt::format("10000-20000 r-xp 00000000 {:02x}:{:02x} {}   {}\n", major(status.st_dev),
                       minor(status.st_dev), status.st_ino, file);
  }

  test::TemporaryDirectory directory_;
};

std::vector<pid_t> pids_of(const RunningPrograms& programs) {
  std::vector<pid_t> pids;
  for (const RunningProgram& program : programs.found) pids.push_back(program.pid);
  return pids;
}

}  // namespace

TEST_CASE("processes with points are found, and those of the names that are asked for") {
  const std::string program = subject::path("program-O2");
  const std::string library = subject::path("library-O2.so");
  const MadeUpProc proc;
  proc.add(20, "gnb", program);
  proc.add(7, "loader", "/bin/sh", {library, library});
  proc.add(30, "both", program, {library});
  proc.add(400, "some-thread", "/bin/sh");
  const RunningPrograms programs = proc.find({"dash", "sh", "bash"});
  CHECK(programs.is_in_time);
  CHECK(programs.looked_at == 5);
  CHECK(programs.closed == 0);
  CHECK_FALSE(programs.hides_others);
  REQUIRE(pids_of(programs) == std::vector<pid_t>{1, 7, 20, 30, 400});

  const RunningProgram& by_library = programs.found[1];
  CHECK(by_library.name == "sh");  // not what its thread calls itself
  CHECK(by_library.points == 1);
  CHECK(by_library.library == "library-O2.so");
  const RunningProgram& by_itself = programs.found[2];
  CHECK(by_itself.name == "program-O2");
  CHECK(by_itself.points == 3);
  CHECK_FALSE(by_itself.has_more_points);
  CHECK(by_itself.library.empty());
  CHECK(programs.found[3].points == 4);
  CHECK(programs.found[3].library.empty());
  CHECK(programs.found[4].points == 0);

  CHECK(pids_of(proc.find({"gnb"})) == std::vector<pid_t>{7, 20, 30});
}

TEST_CASE("kernel threads and processes that have exited are no processes to trace") {
  constexpr unsigned kKernelThread = 0x00200000;
  const MadeUpProc proc;
  proc.add(2, "kthreadd", "", {}, kKernelThread);
  proc.add(3, "gnb", "", {}, 0, 'Z');
  const RunningPrograms programs = proc.find({"kthreadd", "gnb"});
  CHECK(programs.found.empty());
  CHECK(programs.looked_at == 1);
}

TEST_CASE("an executable that was replaced while it runs keeps its name") {
  const MadeUpProc proc;
  proc.add(5, "gnb", "");
  fs::create_symlink("/opt/ran/gnb (deleted)", proc.path(5, "exe"));
  const RunningPrograms programs = proc.find({"gnb"});
  REQUIRE(programs.found.size() == 1);
  CHECK(programs.found[0].name == "gnb");
}

TEST_CASE("a process that may not be looked into is counted, and known by the kernel's name") {
  const MadeUpProc proc;
  proc.add(5, "osmo-bts-virtua", "");
  REQUIRE(chmod(proc.path(5, "maps").c_str(), 0) == 0);
  REQUIRE(chmod(proc.path().c_str(), 0755) == 0);
  const bool was_root = geteuid() == 0;
  if (was_root) REQUIRE(seteuid(65534) == 0);
  const RunningPrograms programs = proc.find({"osmo-bts-virtual", "gnb"});
  if (was_root) REQUIRE(seteuid(0) == 0);
  CHECK(programs.closed == 1);
  REQUIRE(programs.found.size() == 1);
  CHECK(programs.found[0].is_closed);
  CHECK(tracee::may_be_named(programs.found[0], "osmo-bts-virtual"));
  CHECK_FALSE(tracee::may_be_named(programs.found[0], "osmo-bts-trx"));
}

TEST_CASE("a process that cannot be read in time does not hide the others") {
  const MadeUpProc proc;
  proc.add(5, "gnb", subject::path("program-O2"));
  proc.add(6, "hangs", "");
  fs::remove(proc.path(6, "maps"));
  REQUIRE(mkfifo(proc.path(6, "maps").c_str(), 0600) == 0);
  const auto begin = std::chrono::steady_clock::now();
  const RunningPrograms programs = proc.find({}, std::chrono::milliseconds(300));
  CHECK(std::chrono::steady_clock::now() - begin < kTimeout);
  CHECK_FALSE(programs.is_in_time);
  CHECK(pids_of(programs) == std::vector<pid_t>{5});
}

TEST_CASE("if process 1 is not visible, others are reported as hidden") {
  const MadeUpProc proc;
  fs::remove_all(proc.path(1, ""));
  CHECK(proc.find({}).hides_others);
  CHECK_FALSE(tracee::find_running_programs(proc.path() + "/none", {}, kTimeout));
}
