// `sojourn live` beside a running base station: its figures against the report of the same trace,
// and its screen in a terminal that tmux draws.
#include <algorithm>
#include <chrono>
#include <cmath>
#include <csignal>
#include <cstdlib>
#include <fstream>
#include <sstream>
#include <string>
#include <thread>
#include <vector>

#include <catch2/catch_test_macros.hpp>
#include <nlohmann/json.hpp>
#include <unistd.h>

#include "tests/live/programs.h"

namespace sojourn::live {
namespace {

using nlohmann::json;
using std::chrono::milliseconds;
using std::chrono::steady_clock;

std::vector<json> objects_of(const std::string& text) {
  std::vector<json> objects;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) objects.push_back(json::parse(line));
  return objects;
}

// A terminal with a shell in it.
class Terminal {
 public:
  Terminal(int columns, int rows) {
    REQUIRE(tmux({"-f", "/dev/null", "new-session", "-d", "-x", std::to_string(columns), "-y",
                  std::to_string(rows), "env PS1='shell> ' bash --norc --noprofile -i"})
                .exit_code == 0);
    REQUIRE(shows("shell>"));
  }
  Terminal(const Terminal&) = delete;
  Terminal& operator=(const Terminal&) = delete;
  ~Terminal() { tmux({"kill-server"}); }

  test::Ended tmux(std::vector<std::string> words) const {
    words.insert(words.begin(), {"tmux", "-u", "-S", directory_.path("socket")});
    return test::run(std::move(words));
  }
  void type(const std::string& text) const { tmux({"send-keys", "-l", text}); }
  void press(const std::string& key) const { tmux({"send-keys", key}); }
  void enter(const std::string& line) const {
    type(line);
    press("Enter");
  }
  std::string screen(bool with_colours = false) const {
    std::vector<std::string> words = {"capture-pane", "-p"};
    if (with_colours) words.emplace_back("-e");
    return tmux(std::move(words)).out;
  }
  // Within a minute: a busy machine is no failure.
  bool shows(const std::string& text) const {
    const auto end = steady_clock::now() + std::chrono::minutes(1);
    while (steady_clock::now() < end) {
      if (screen().contains(text)) return true;
      std::this_thread::sleep_for(milliseconds(50));
    }
    return false;
  }
  std::string output_of(const std::string& command) {
    const std::string path = directory_.path("out-" + std::to_string(++outputs_));
    enter(command + " > " + path + " 2>&1; echo done-$((" + std::to_string(outputs_) + "+0))");
    REQUIRE(shows("done-" + std::to_string(outputs_)));
    return test::contents(path);
  }

 private:
  test::TemporaryDirectory directory_;
  int outputs_ = 0;
};

std::string view_of(pid_t pid, const std::string& more = "") {
  return SJ_SOJOURN " live -p " + std::to_string(pid) + " " + more;
}

TEST_CASE("live figures of a trace that is being recorded agree with the report afterwards") {
  need_root();
  const Station station;
  const test::TemporaryDirectory directory;
  const std::string path = directory.path("run.sjt");
  test::Child recorder(
      {SJ_SOJOURN, "record", "-q", "-p", std::to_string(station.pid()), "--for", "4s", "-o", path});
  while (access((path + ".partial").c_str(), F_OK) != 0)
    std::this_thread::sleep_for(milliseconds(10));
  const auto objects = objects_of(sojourn_done({"live", path, "--json", "--view-budget", "none"}));
  CHECK(recorder.wait().exit_code == 0);
  REQUIRE(objects.size() >= 4);
  const json& end = objects.back();
  CHECK(end["ended"] == true);
  CHECK(end["left_out"] == 0);
  const json report = json::parse(sojourn_done({"report", path, "--json"}));
  CHECK(end["events"] == report["events"]);
  for (const char* const dir : {"D", "U"}) {
    const json& mine = end["journeys"][dir];
    const json& theirs = report["journeys"][dir];
    CAPTURE(dir, mine.dump(), theirs["complete"]);
    CHECK(mine["complete"] == theirs["complete"]);
    CHECK(mine["complete"] > 1000);
    for (const char* const name : {"p50", "p99"}) {
      const double exact = theirs["latency_us"][name];
      CHECK(std::abs(mine["all"]["latency_us"][name].get<double>() - exact) <= 0.002 * exact);
    }
  }
}

TEST_CASE("a view that may take next to nothing rebuilds some UEs, and says so") {
  need_root();
  const Station station;
  const std::string pid = std::to_string(station.pid());
  const auto lines_of = [&](const std::string& budget) {
    return sojourn_done({"live", "-p", pid, "--json", "-n", "8", "--view-budget", budget});
  };
  const json last = objects_of(lines_of("0.1")).back();
  REQUIRE(last["sample"].is_object());
  CHECK(last["sample"]["owners"] < last["sample"]["of"]);
  CHECK(last["sample"]["of"] == 20);
  const double share = last["sample"]["events_share"];
  CHECK(share < 0.5);
  CHECK(last["journeys"]["D"]["window"]["count"] > 0);
  // Packets that are not rebuilt are not reported. A rebuilt packet lacks no event.
  for (const char* const dir : {"D", "U"}) CHECK(last["journeys"][dir]["incomplete"] == 0);
  CHECK(last["events_per_s"] > 10'000);

  const json all = objects_of(lines_of("none")).back();
  CHECK(all["sample"].is_null());
  CHECK(last["journeys"]["D"]["window"]["per_s"].get<double>() <
        0.8 * all["journeys"]["D"]["window"]["per_s"].get<double>());

  const test::Ended text =
      sojourn({"live", "-p", pid, "--plain", "-n", "8", "--view-budget", "0.1"});
  CHECK(text.out.contains(" of 20 UEs ("));
}

TEST_CASE("a capture of its own is shown in lines, and leaves the target as it was") {
  need_root();
  Station station;
  const auto points = points_of(station.pid());
  const auto before = site_bytes(station.pid(), points);
  const test::Ended ended = sojourn(
      {"live", "-p", std::to_string(station.pid()), "--json", "-n", "3", "--engine", "bpf"});
  CAPTURE(ended.err);
  REQUIRE(ended.exit_code == 0);
  CHECK(ended.err.contains("attached"));
  const auto objects = objects_of(ended.out);
  REQUIRE(objects.size() == 3);
  CHECK(objects[2]["t_s"] == 3.0);
  CHECK(objects[2]["journeys"]["D"]["window"]["count"] > 100);
  CHECK(objects[2]["pid"] == station.pid());
  CHECK(site_bytes(station.pid(), points) == before);
  CHECK(station.running());
}

TEST_CASE("a view whose reader goes away ends without an error, and takes its capture along") {
  need_root();
  const test::TemporaryDirectory directory;
  Station station;
  const auto points = points_of(station.pid());
  const auto before = site_bytes(station.pid(), points);
  const test::Ended ended =
      test::run({"sh", "-c",
                 std::string("{ '") + SJ_SOJOURN + "' live -p " + std::to_string(station.pid()) +
                     " --json --engine bpf 2> '" + directory.path("errors") + "'; echo $? > '" +
                     directory.path("code") + "'; } | head -1"});
  CHECK(objects_of(ended.out).size() == 1);
  CHECK(test::contents(directory.path("code")) == "0\n");
  CHECK_FALSE(test::contents(directory.path("errors")).contains("sojourn: "));
  CHECK(site_bytes(station.pid(), points) == before);
  CHECK(station.running());
}

TEST_CASE("a view that is killed takes its capture along, and the target is as it was") {
  need_root();
  Station station;
  const auto points = points_of(station.pid());
  const auto before = site_bytes(station.pid(), points);
  test::Child view({SJ_SOJOURN, "live", "-p", std::to_string(station.pid()), "--json", "--engine",
                    "bpf", "--budget", "none"});
  REQUIRE(view.wait_for_output("\"t_s\""));
  CHECK(site_bytes(station.pid(), points) != before);
  view.signal(SIGKILL);
  view.wait();
  const auto end = steady_clock::now() + std::chrono::minutes(1);
  while (site_bytes(station.pid(), points) != before && steady_clock::now() < end)
    std::this_thread::sleep_for(milliseconds(50));
  CHECK(site_bytes(station.pid(), points) == before);
  CHECK(station.running());
}

TEST_CASE("a target that cannot be attached to is an error before there is a screen") {
  const test::Ended ended = sojourn({"live", "-p", std::to_string(getpid())});
  CHECK(ended.exit_code == 1);
  CHECK(ended.err.contains("point"));
  CHECK(std::ranges::count(ended.err, '\n') == 1);
  CHECK(ended.out.empty());
}

TEST_CASE("the screen shows figures, obeys keys, fits its terminal, and leaves it as it was") {
  need_root();
  Station station;
  Terminal terminal(80, 24);
  const std::string before = terminal.output_of("stty -a");
  terminal.enter("clear; " + view_of(station.pid()));
  REQUIRE(terminal.shows("latency, last"));
  REQUIRE(terminal.shows("rlc.tx.am"));
  CHECK(terminal.screen().contains("events/s"));

  terminal.press("t");
  CHECK(terminal.shows("latency, all "));
  terminal.press("?");
  CHECK(terminal.shows("this list"));
  terminal.press("Escape");
  CHECK(terminal.shows("where"));
  terminal.press("c");
  CHECK(terminal.shows("a digit shows one"));
  terminal.press("c");
  terminal.type("/rnti ==");
  terminal.press("Enter");
  CHECK(terminal.shows("the expression ends"));
  terminal.press("/");
  terminal.press("C-u");
  terminal.enter("dir == D");
  CHECK(terminal.shows("only dir == D"));
  terminal.press("p");
  CHECK(terminal.shows("paused at"));
  terminal.press("p");

  terminal.tmux({"resize-window", "-x", "200", "-y", "60"});
  CHECK(terminal.shows("p99 by second"));

  terminal.press("C-z");
  CHECK(terminal.shows("Stopped"));
  terminal.enter("fg");
  CHECK(terminal.shows("events/s"));
  terminal.press("q");
  CHECK(terminal.shows("shell>"));
  terminal.tmux({"resize-window", "-x", "80", "-y", "24"});
  // The new size comes by and by.
  for (int turn = 0; turn < 30 && terminal.output_of("stty -a") != before; ++turn)
    std::this_thread::sleep_for(milliseconds(100));
  CHECK(terminal.output_of("stty -a") == before);
  CHECK(station.running());
}

TEST_CASE("bars are drawn with blocks where the terminal has them, and with ASCII elsewhere") {
  need_root();
  Station station;
  Terminal terminal(120, 30);
  terminal.enter("clear; LC_ALL=C.UTF-8 " + view_of(station.pid()));
  REQUIRE(terminal.shows("rlc.tx.am"));
  CHECK(terminal.shows("█"));
  CHECK_FALSE(terminal.screen().contains("~"));
  terminal.press("q");
  REQUIRE(terminal.shows("shell>"));
  terminal.enter("clear; LC_ALL=C " + view_of(station.pid()));
  REQUIRE(terminal.shows("rlc.tx.am"));
  CHECK_FALSE(terminal.screen().contains("█"));
}

TEST_CASE("the terminal is restored after any signal that ends live") {
  need_root();
  const Station station;
  for (const std::string signal : {"TERM", "INT", "HUP", "SEGV"}) {
    CAPTURE(signal);
    Terminal terminal(80, 24);
    const std::string before = terminal.output_of("stty -a");
    terminal.enter("clear; " + view_of(station.pid()) + " & VIEW=$!; fg");
    REQUIRE(terminal.shows("latency, last"));
    const std::string pid = [&] {
      const test::Ended found =
          test::run({"pgrep", "-o", "-f", "live -p " + std::to_string(station.pid())});
      return found.out.substr(0, found.out.find('\n'));
    }();
    REQUIRE_FALSE(pid.empty());
    test::run({"kill", "-" + signal, pid});
    CHECK(terminal.shows("shell>"));
    CHECK_FALSE(terminal.screen().contains("latency, last"));
    CHECK(terminal.output_of("stty -a") == before);
  }
}

TEST_CASE("colours are the terminal's own, and none with NO_COLOR") {
  need_root();
  const Station station;
  const Terminal terminal(80, 24);
  terminal.enter("clear; " + view_of(station.pid()));
  REQUIRE(terminal.shows("latency, last"));
  CHECK(terminal.screen(true).contains("\033[1m\033[36m"));
  terminal.press("q");
  REQUIRE(terminal.shows("shell>"));
  terminal.enter("clear; NO_COLOR=1 " + view_of(station.pid()));
  REQUIRE(terminal.shows("latency, last"));
  const std::string plain = terminal.screen(true);
  for (const char* const colour : {"[31m", "[32m", "[33m", "[35m", "[36m"})
    CHECK_FALSE(plain.contains(colour));
}

TEST_CASE("points are switched from the screen, but not with --readonly") {
  need_root();
  const Station station;
  const std::string pid = std::to_string(station.pid());
  Terminal terminal(100, 30);
  terminal.enter("clear; " + view_of(station.pid(), "--readonly"));
  REQUIRE(terminal.shows("latency, last"));
  terminal.press("x");
  CHECK(terminal.shows("not with --readonly"));
  terminal.press("q");
  REQUIRE(terminal.shows("shell>"));
  terminal.enter("clear; " + view_of(station.pid()));
  REQUIRE(terminal.shows("latency, last"));
  terminal.press("x");
  CHECK(terminal.shows("switch off the points:"));
  terminal.enter("phy.*");
  CHECK(terminal.shows("off"));
  CHECK(sojourn_done({"ctl", "-p", pid, "status"}).contains("off"));
  terminal.press("e");
  terminal.enter("phy.*");
  CHECK(terminal.shows("on"));
}

}  // namespace
}  // namespace sojourn::live
