// `sojourn serve` beside a running base station: its figures and its bytes against the report of
// the trace that it gives, requests from the page, and the end of everything that can end.
#include <chrono>
#include <csignal>
#include <filesystem>
#include <functional>
#include <string>
#include <thread>

#include <catch2/catch_test_macros.hpp>
#include <nlohmann/json.hpp>
#include <sys/mount.h>
#include <unistd.h>

#include "tests/live/measured.h"
#include "tests/live/programs.h"
#include "tests/support/served.h"
#include "userspace/files/stream_address.h"

namespace sojourn::live {
namespace {

using nlohmann::json;
using std::chrono::milliseconds;
using std::chrono::steady_clock;
using test::Served;

bool within_a_minute(const std::function<bool()>& holds) {
  const auto end = steady_clock::now() + std::chrono::minutes(1);
  while (steady_clock::now() < end) {
    if (holds()) return true;
    std::this_thread::sleep_for(milliseconds(50));
  }
  return false;
}

// Waits until figures came for which it holds.
template <typename Holds>
json figures_when(test::HttpPeer& peer, Holds holds) {
  const auto end = steady_clock::now() + std::chrono::minutes(1);
  while (steady_clock::now() < end && peer.hears("event: figures\n") && peer.hears("\n\n")) {
    json figures = test::newest_figures(peer.heard());
    if (holds(figures)) return figures;
  }
  FAIL("such figures never came");
  return {};
}

std::string pid_of(const Station& station) {
  return std::to_string(station.pid());
}

// The report of the trace that it serves now.
json report_of(const Served& served, const test::TemporaryDirectory& directory) {
  const std::string path = directory.path("given.sjt");
  test::write_contents(path, served.get("/trace/0").body);
  return json::parse(sojourn_done({"report", path, "--json"}));
}

TEST_CASE(
    "a capture is served while it runs, and its final figures agree with the last ones shown") {
  need_root();
  Station station;
  const test::TemporaryDirectory directory;
  const auto points = points_of(station.pid());
  const auto before = site_bytes(station.pid(), points);
  Served served(SJ_SOJOURN, {"-p", pid_of(station), "--engine", "bpf", "--budget", "none"});
  CHECK(served.come_in().status() == 200);
  const auto peer = served.listen();
  const json early =
      figures_when(*peer, [](const json& now) { return now.value("t_s", 0.0) >= 1; });
  CHECK(early["pid"] == station.pid());
  CHECK(early["growing"] == true);
  CHECK(site_bytes(station.pid(), points) != before);
  // The bytes so far are a trace.
  const json so_far = report_of(served, directory);
  CHECK(so_far["events"] > 1000);
  CHECK(so_far["file"]["damaged_places"] == 0);
  const json later = figures_when(
      *peer, [&](const json& now) { return now["events"] > early["events"] && now["t_s"] >= 3; });
  CHECK(later["size"] > early["size"]);

  CHECK(served.control("stop")["answer"] == "stopping");
  const json last = figures_when(*peer, [](const json& now) { return now["growing"] == false; });
  CHECK(last["ended"] == true);
  CHECK_FALSE(last.contains("problem"));
  const json report = report_of(served, directory);
  CHECK(report["file"]["whole"] == true);
  CHECK(report["events"] == last["events"]);
  for (const char* const dir : {"D", "U"}) {
    CAPTURE(dir);
    CHECK(report["journeys"][dir]["complete"] == last["journeys"][dir]["complete"]);
    CHECK(report["journeys"][dir]["complete"] > 1000);
  }
  CHECK(site_bytes(station.pid(), points) == before);
  CHECK(served.control("stop").contains("error"));
  served.child().signal(SIGINT);
  CHECK(served.child().wait().exit_code == 0);
  CHECK(station.running());
}

TEST_CASE("an interrupt ends the capture, and its probes are taken off") {
  need_root();
  Station station;
  const auto points = points_of(station.pid());
  const auto before = site_bytes(station.pid(), points);
  Served served(SJ_SOJOURN, {"-p", pid_of(station), "--engine", "bpf", "--budget", "none"});
  CHECK(site_bytes(station.pid(), points) != before);
  served.child().signal(SIGINT);
  CHECK(served.child().wait().exit_code == 0);
  CHECK(site_bytes(station.pid(), points) == before);
  CHECK(station.running());
}

TEST_CASE("serve that is killed takes its capture along, and the target is as it was") {
  need_root();
  Station station;
  const auto points = points_of(station.pid());
  const auto before = site_bytes(station.pid(), points);
  Served served(SJ_SOJOURN, {"-p", pid_of(station), "--engine", "bpf", "--budget", "none"});
  served.come_in();
  CHECK(site_bytes(station.pid(), points) != before);
  served.child().signal(SIGKILL);
  served.child().wait();
  CHECK(within_a_minute([&] { return site_bytes(station.pid(), points) == before; }));
  CHECK(station.running());
}

TEST_CASE("a capture that is served has metrics as well") {
  need_root();
  const Station station;
  const std::uint16_t port = free_port();
  Served served(SJ_SOJOURN,
                {"-p", pid_of(station), "--metrics", "127.0.0.1:" + std::to_string(port)});
  CHECK(served.come_in().status() == 200);
  const std::string count = "sojourn_latency_seconds_count{direction=\"D\"} ";
  const auto end = steady_clock::now() + std::chrono::minutes(1);
  std::string text;
  while (!text.contains(count) && steady_clock::now() < end) {
    std::this_thread::sleep_for(milliseconds(100));
    text = get(port, "/metrics");
  }
  REQUIRE(text.contains(count));
  CHECK(std::stod(text.substr(text.find(count) + count.size())) > 100);
  // And the page's figures go on beside them.
  const auto peer = served.listen();
  figures_when(*peer, [](const json& now) { return now.value("t_s", 0.0) >= 2; });
  served.child().signal(SIGINT);
  CHECK(served.child().wait().exit_code == 0);
  CHECK_FALSE(files::connect_to({.host = "127.0.0.1", .port = port, .path = {}}));
}

TEST_CASE("points are switched from the page, but not with --readonly") {
  need_root();
  const Station station;
  const auto shows_off = [&] {
    return sojourn_done({"ctl", "-p", pid_of(station), "status"}).contains(" off ");
  };
  {
    Served served(SJ_SOJOURN, {"-p", pid_of(station)});
    served.come_in();
    CHECK_FALSE(shows_off());
    CHECK(served.control("disable", "phy.*")["answer"].get<std::string>().contains("off"));
    CHECK(shows_off());
    CHECK(served.control("enable", "phy.*")["answer"].get<std::string>().contains("on"));
    CHECK_FALSE(shows_off());
    CHECK(served.control("disable", "nosuch.*")["error"].get<std::string>().contains("nosuch.*"));
    CHECK(served.control("disable")["error"].get<std::string>().contains("which points"));
    CHECK(served.control("explode")["error"].get<std::string>().contains("explode"));
  }
  Served served(SJ_SOJOURN, {"-p", pid_of(station), "--readonly"});
  served.come_in();
  CHECK(served.post("/control/0", R"({"action": "disable", "points": "phy.*"})").status() == 403);
  CHECK_FALSE(shows_off());
  // It has no rights any more, and shows the capture all the same.
  const test::Ended rights =
      test::run({"grep", "CapEff", "/proc/" + std::to_string(served.child().pid()) + "/status"});
  CHECK(rights.out.contains("0000000000000000"));
  const auto peer = served.listen();
  figures_when(*peer, [](const json& now) { return now.value("events", 0) > 1000; });
}

TEST_CASE("a capture that waits is started from the page") {
  need_root();
  const Station station;
  Served served(SJ_SOJOURN, {"-p", pid_of(station), "--wait"});
  served.come_in();
  const auto peer = served.listen();
  figures_when(*peer, [](const json& now) { return now["waiting"] == true; });
  CHECK(served.control("start")["answer"] == "started");
  figures_when(*peer, [](const json& now) { return now.value("events", 0) > 1000; });
  CHECK(served.control("start")["error"] == "it is running already");
}

TEST_CASE("a flight recorder beside it dumps when the page asks") {
  need_root();
  const Station station;
  const test::TemporaryDirectory directory;
  test::Child recorder({SJ_SOJOURN, "record", "-p", pid_of(station), "--flight", "5s", "--engine",
                        "bpf", "-o", directory.path("flight.sjt")});
  REQUIRE(recorder.wait_for_output("attached"));
  Served served(SJ_SOJOURN, {"-p", pid_of(station), "--engine", "bpf"});
  served.come_in();
  const json answer = served.control("dump");
  INFO(answer.dump());
  REQUIRE(answer.contains("answer"));
  std::size_t dumps = 0;
  for (const auto& entry : std::filesystem::directory_iterator(directory.path()))
    if (entry.path().extension() == ".sjt") ++dumps;
  CHECK(dumps == 1);
  recorder.signal(SIGINT);
  recorder.wait();
}

TEST_CASE("record, ctl and serve work on one trace") {
  need_root();
  const Station station;
  const test::TemporaryDirectory directory;
  const std::string path = directory.path("run.sjt");
  test::Child recorder({SJ_SOJOURN, "record", "-q", "-p", pid_of(station), "-o", path});
  REQUIRE(within_a_minute([&] { return access((path + ".partial").c_str(), F_OK) == 0; }));
  Served served(SJ_SOJOURN, {path});
  served.come_in();
  const auto peer = served.listen();
  figures_when(*peer, [](const json& now) { return now.value("events", 0) > 1000; });
  CHECK(served.control("flush")["answer"] == "flushed");
  CHECK(served.control("status")["answer"].get<std::string>().contains("events"));
  CHECK(served.control("stop")["answer"] == "stopping");
  CHECK(recorder.wait().exit_code == 0);
  const json last = figures_when(*peer, [](const json& now) { return now["growing"] == false; });
  const json report = json::parse(sojourn_done({"report", path, "--json"}));
  CHECK(last["events"] == report["events"]);
  CHECK(served.get("/trace/0").body == test::contents(path));
}

TEST_CASE("when the target ends, its trace is still served") {
  need_root();
  Station station;
  const test::TemporaryDirectory directory;
  Served served(SJ_SOJOURN, {"-p", pid_of(station)});
  served.come_in();
  const auto peer = served.listen();
  figures_when(*peer, [](const json& now) { return now.value("events", 0) > 1000; });
  station.finish();
  const json last = figures_when(*peer, [](const json& now) { return now["growing"] == false; });
  CHECK(last["ended"] == true);
  CHECK(report_of(served, directory)["events"] == last["events"]);
  CHECK(served.child().running());
}

// A file system of two megabytes.
class SmallDisk {
 public:
  SmallDisk() { REQUIRE(mount("tmpfs", path().c_str(), "tmpfs", 0, "size=2m") == 0); }
  SmallDisk(const SmallDisk&) = delete;
  SmallDisk& operator=(const SmallDisk&) = delete;
  ~SmallDisk() { umount2(path().c_str(), MNT_DETACH); }
  std::string path() const { return directory_.path(); }

 private:
  test::TemporaryDirectory directory_;
};

TEST_CASE("a full disk ends the capture, and the events up to then are still served") {
  need_root();
  Station station;
  const test::TemporaryDirectory directory;
  const SmallDisk disk;
  const auto points = points_of(station.pid());
  const auto before = site_bytes(station.pid(), points);
  Served served(SJ_SOJOURN, {"-p", pid_of(station), "--engine", "bpf", "--budget", "none"},
                {"env", "TMPDIR=" + disk.path()});
  served.come_in();
  const auto peer = served.listen();
  const json last = figures_when(*peer, [](const json& now) { return now["growing"] == false; });
  CHECK(last["problem"].get<std::string>().contains("No space left on device"));
  const json report = report_of(served, directory);
  CHECK(report["events"] > 1000);
  CHECK(report["file"]["damaged_places"] == 0);
  CHECK(site_bytes(station.pid(), points) == before);
  CHECK(station.running());
  CHECK(served.child().running());
}

TEST_CASE("a target that cannot be attached to is an error before there is a link") {
  const test::Ended ended = sojourn({"serve", "-p", std::to_string(getpid())});
  CAPTURE(ended.err);
  CHECK(ended.exit_code == 1);
  CHECK(ended.err.contains("point"));
  CHECK(ended.err.find("sojourn: ") == ended.err.rfind("sojourn: "));
  CHECK(ended.out.empty());
}

TEST_CASE("a filter that does not fit the points of a capture ends serve with the error") {
  need_root();
  Station station;
  const auto points = points_of(station.pid());
  const auto before = site_bytes(station.pid(), points);
  const test::Ended ended =
      sojourn({"serve", "-p", pid_of(station), "--engine", "bpf", "--filter", "nosuchfield == 1"});
  CAPTURE(ended.err);
  CHECK(ended.exit_code == 1);
  CHECK(ended.err.contains("\nsojourn: "));
  CHECK(ended.err.contains("nosuchfield"));
  CHECK(ended.err.find("sojourn: ") == ended.err.rfind("sojourn: "));
  CHECK(site_bytes(station.pid(), points) == before);
  CHECK(station.running());
}

}  // namespace
}  // namespace sojourn::live
