// Scripts that are wrong, do not end, want too much memory, or try forbidden things; and workers
// that vanish. Each gets an error of one line, and stops nothing else.
#include <chrono>
#include <csignal>
#include <fstream>
#include <string>
#include <thread>

#include <catch2/catch_test_macros.hpp>
#include <fmt/format.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/unit/scripts/support.h"
#include "userspace/scripts/journey_script.h"
#include "userspace/scripts/sandbox.h"
#include "userspace/scripts/worker.h"

namespace sojourn::scripts::test {
namespace {

bool has(const std::string& text, const std::string& words) {
  INFO(text);
  return text.find(words) != std::string::npos;
}

TEST_CASE("an error while a script is read has its line") {
  CHECK(
      has(error_of("\nfilter(function(e) return e.len >\nend)"), "test.lua:3: unexpected symbol"));
  CHECK(error_of("local a\n\nerror('no')") == "test.lua:3: no");
  CHECK(has(error_of("local a = nil + 1"), "test.lua:1: attempt to perform arithmetic on a nil"));
  CHECK(has(error_of("error({})"), "test.lua:1: an error that is a table, and no text"));
  CHECK(error_of("error('a\\nb')") == "test.lua:1: a?b");
  CHECK(has(error_of("on('X nothing', function() end)"),
            "test.lua:1: no point of the trace matches \"X nothing\""));
  CHECK(has(error_of("filter(1)"), "test.lua:1: bad argument"));
  CHECK(has(error_of("activity('a b')"), "test.lua:1: activity \"a b\""));
  CHECK(has(error_of("activity('a') marker('a')"), "there is one already"));
  CHECK(has(error_of("activity('a', { 'dur_ns' })"), "cannot be an attribute's name"));
  CHECK(has(error_of("column { name = 'rnti', value = print }"), "points have such a field"));
  CHECK(has(error_of("column { name = 'c', valeu = print }"), "no \"valeu\""));
}

TEST_CASE("functions register nothing later, and make nothing out of place") {
  CHECK(has(error_at_event("filter(function(e) filter(function() end) end)"),
            "filter() is called while the script is read"));
  CHECK(has(error_at_event("local m = marker('m') filter(function(e) m() end)"),
            "m: it is made by a function of on()"));
  CHECK(has(error_of("marker('m')()"), "m: it is made by a function of on()"));
}

TEST_CASE("an activity is made from its arguments") {
  const auto error = [](const std::string& call) {
    const auto stage =
        begun("local a = activity('a', { 'x' }) on('D *', function(e) " + call + " end)");
    pass(*stage, {{.ts_ns = kOpenNs, .seq = 0, .point = 0, .values = {100, 5}}});
    return stage->error();
  };
  CHECK(error("a(e.t_ns, 1)").empty());
  CHECK(has(error("a(e.t_ns)"), "test.lua:1: a: 1 values, where 2 are wanted"));
  CHECK(has(error("a(e.t_ns, nil)"), "a x: a whole number is wanted, not nil"));
  CHECK(has(error("a(e.t_ns + 1, 1)"), "a: it would begin after its end"));
  CHECK(has(error("for i = 1, 2000 do a(e.t_ns, 1) end"),
            "more than 1000 activities and markers by one event"));
}

TEST_CASE("nothing outside of the sandbox is reachable") {
  for (const std::string name : {"io", "os", "debug", "package", "coroutine"})
    CHECK(has(error_of("\nlocal x = " + name + ".anything"),
              "test.lua:2: attempt to index a nil value (global '" + name + "')"));
  for (const std::string name : {"require", "dofile", "loadfile", "collectgarbage"})
    CHECK(has(error_of("\n" + name + "('x')"),
              "test.lua:2: attempt to call a nil value (global '" + name + "')"));
  CHECK(has(error_of("string.dump(print)"), "attempt to call a nil value (field 'dump')"));
  CHECK(has(error_of("assert(load('\\27Lua'))"), "attempt to load a binary chunk"));
  CHECK(has(error_of("\x1bLua"), "attempt to load a binary chunk"));
  CHECK(begun("assert(load('return 1 + 1')() == 2)") != nullptr);
  CHECK(has(error_of("getmetatable(print).x = 1"), "attempt to index a nil value"));
}

TEST_CASE("a loop without an end is stopped where it is") {
  CHECK(error_of("local n = 0\nwhile true do\n  n = n + 1\nend").starts_with("test.lua:"));
  CHECK(has(error_at_event("filter(function(e)\n  while true do end\nend)"),
            "test.lua:2: took longer than 2 s of processor time"));
  // A script cannot catch the error.
  CHECK(has(error_of("while true do pcall(function() while true do end end) end"),
            "took longer than 2 s of processor time"));
}

TEST_CASE("a function that no hook stops is killed") {
  // A pattern that tries all ways takes years, in one function of C.
  const auto start = std::chrono::steady_clock::now();
  const std::string error = error_at_event(
      "local text = string.rep('a', 60)\n"
      "filter(function(e)\n  return text:find(string.rep('a?', 60) .. string.rep('a', 60) .. "
      "string.rep('.-', 30) .. 'b')\nend)");
  CHECK(has(error, "test.lua:"));
  CHECK(has(error, "took longer than 2 s of processor time"));
  CHECK(std::chrono::steady_clock::now() - start < std::chrono::minutes(1));
}

TEST_CASE("memory has a bound, and an error for lack of it has its line") {
  CHECK(has(error_of("\nlocal text = string.rep('x', 1 << 40)"), "test.lua:2: "));
  CHECK(has(error_of("\nlocal text = string.rep('x', 1 << 30)"),
            "test.lua:2: not enough memory: a script may have 256 MiB"));
  // Large pieces: ASan keeps those that were freed, and is slow to copy many short ones.
  CHECK(has(error_of("local piece, all = string.rep('x', 1 << 12), {}\nwhile true do\n"
                     "  all[#all + 1] = string.rep(piece, 1 << 9) .. #all\nend"),
            "test.lua:3: not enough memory"));
  CHECK(has(error_at_event("filter(function(e)\n  local all = {}\n  for i = 1, 1e9 do all[i] = i "
                           "end\nend)"),
            "test.lua:3: not enough memory"));
  CHECK(has(error_of("local function f() return f() + 1 end\nf()"), "stack overflow"));
}

TEST_CASE("a worker that is killed is reported, and no pass goes on as if it had answered") {
  const auto stage = begun("filter(function(e) return true end)");
  model::EventBatch batch = to_batch({{.ts_ns = kOpenNs, .seq = 0, .point = 0, .values = {1, 5}}});
  REQUIRE(stage->worker_pid() > 0);
  kill(stage->worker_pid(), SIGKILL);
  const auto done = stage->pass(batch);
  REQUIRE_FALSE(done);
  CHECK(has(done.error().text(), "test.lua: the script's worker: it was killed by SIGKILL"));
  // The next pass has a new one.
  REQUIRE(stage->begin({}));
  CHECK(stage->pass(batch));
}

// The newest one of this process; -1: it has none.
pid_t youngest_child() {
  std::ifstream file(fmt::format("/proc/self/task/{}/children", getpid()));
  pid_t last = -1;
  for (pid_t child = -1; file >> child;) last = child;
  return last;
}

TEST_CASE("a worker that dies while it reads the script is reported at once") {
  const pid_t before = youngest_child();
  std::thread killer([before] {
    pid_t worker = before;
    for (int look = 0; worker == before && look < 1000; ++look) {
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
      worker = youngest_child();
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(100));
    if (worker != before) kill(worker, SIGKILL);
  });
  const auto start = std::chrono::steady_clock::now();
  const std::string error = error_of("while true do end");
  killer.join();
  CHECK(has(error, "it was killed by SIGKILL"));
  CHECK(std::chrono::steady_clock::now() - start < std::chrono::minutes(1));
}

TEST_CASE("a worker that is killed in the middle of a function is reported with its line") {
  const auto stage = begun("\nfilter(function(e) while true do end end)");
  model::EventBatch batch = to_batch({{.ts_ns = kOpenNs, .seq = 0, .point = 0, .values = {1, 5}}});
  const pid_t worker = stage->worker_pid();
  std::thread killer([worker] {
    std::this_thread::sleep_for(std::chrono::milliseconds(300));
    kill(worker, SIGKILL);
  });
  const auto done = stage->pass(batch);
  killer.join();
  REQUIRE_FALSE(done);
  CHECK(done.error().text() == "test.lua:2: the script's worker: it was killed by SIGKILL");
}

TEST_CASE("events go on without the worker of a script that changes none of them") {
  const auto stage = begun("local m = marker('m') on('D *', function(e) m() end)");
  const Events one = {{.ts_ns = kOpenNs, .seq = 0, .point = 0, .values = {1, 5}}};
  CHECK(pass(*stage, one).size() == 2);
  kill(stage->worker_pid(), SIGKILL);
  CHECK(pass(*stage, one) == one);
  CHECK(pass(*stage, one) == one);
  CHECK(has(stage->error(), "it was killed by SIGKILL"));
}

TEST_CASE("a worker in the sandbox can do nothing but answer") {
  // Should a script get out of the interpreter: each of these is the last that a process does.
  const auto ends_by = [](void (*act)()) {
    int ends[2];
    REQUIRE(pipe(ends) == 0);
    const pid_t child = fork();
    if (child == 0) {
      if (!enter_sandbox(ends[1], std::uint64_t{1} << 28)) _exit(9);
      act();
      _exit(0);
    }
    close(ends[0]);
    close(ends[1]);
    int status = 0;
    REQUIRE(waitpid(child, &status, 0) == child);
    return WIFSIGNALED(status) ? WTERMSIG(status) : 0;
  };
  CHECK(ends_by([] {}) == 0);
  CHECK(ends_by([] { static_cast<void>(access("/etc/passwd", R_OK)); }) == SIGSYS);
  CHECK(ends_by([] { static_cast<void>(fork()); }) == SIGSYS);
  CHECK(ends_by([] { static_cast<void>(socket(AF_INET, SOCK_STREAM, 0)); }) == SIGSYS);
  CHECK(ends_by([] { static_cast<void>(write(STDERR_FILENO, "x", 1)); }) == SIGSYS);
  CHECK(ends_by([] { kill(getppid(), SIGTERM); }) == SIGSYS);
  CHECK(ends_by([] { execl("/bin/true", "true", nullptr); }) == SIGSYS);
  CHECK(ends_by([] {
          mmap(nullptr, 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        }) == SIGSYS);
}

}  // namespace
}  // namespace sojourn::scripts::test
