// Figures of a running capture, written to Debian's InfluxDB and read back from it.
#include <algorithm>
#include <chrono>
#include <cmath>
#include <csignal>
#include <string>
#include <thread>

#include <catch2/catch_test_macros.hpp>
#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "tests/live/measured.h"
#include "tests/live/programs.h"
#include "userspace/files/stream_address.h"

namespace sojourn::live {
namespace {

using nlohmann::json;
using std::chrono::milliseconds;

// Debian's influxd, all of whose files are in a directory of the test.
class Influx {
 public:
  explicit Influx(bool wants_password = false)
      : server_({"sh", "-c",
                 fmt::format("exec influxd -config '{}' 2>&1", configured(wants_password))}) {}

  std::uint16_t port() const { return port_; }
  std::string url() const { return fmt::format("http://127.0.0.1:{}/write?db=gnb", port_); }

  // Returns the answer to a statement; null: there is none yet.
  json ask_for(const std::string& statement, const std::string& who = "") const {
    if (!files::connect_to({.host = "127.0.0.1", .port = port_, .path = {}})) return nullptr;
    const std::string answer =
        ask(port_, fmt::format("POST /query?db=gnb&q={}{} HTTP/1.0\r\nHost: 127.0.0.1\r\n\r\n",
                               escaped(statement), who));
    json told = json::parse(body_of(answer), nullptr, false);
    return told.is_discarded() ? json() : told;
  }
  void wait_until_done(const std::string& statement, const std::string& who = "") const {
    for (int turn = 0; turn < 600; ++turn) {
      const json told = ask_for(statement, who);
      if (told.is_object() && !told.contains("error")) return;
      std::this_thread::sleep_for(milliseconds(100));
    }
    FAIL("influxd did not do it in a minute: " << statement);
  }
  // The first row of the answer, without its time; null: there is none.
  json row(const std::string& statement, const std::string& who = "") const {
    const json told = ask_for(statement, who);
    if (!told.is_object() || !told.contains("results")) return nullptr;
    const json& result = told["results"][0];
    if (!result.contains("series")) return nullptr;
    json values = result["series"][0]["values"][0];
    values.erase(0);
    return values;
  }
  void suspend() const { server_.signal(SIGSTOP); }

 private:
  std::string configured(bool wants_password) const {
    std::string path = directory_.path("influxdb.conf");
    test::write_contents(
        path, fmt::format("reporting-disabled = true\nbind-address = \"127.0.0.1:{}\"\n"
                          "[meta]\n  dir = \"{}\"\n[data]\n  dir = \"{}\"\n  wal-dir = \"{}\"\n"
                          "[monitor]\n  store-enabled = false\n"
                          "[http]\n  bind-address = \"127.0.0.1:{}\"\n  auth-enabled = {}\n"
                          "  log-enabled = false\n",
                          free_port(), directory_.path("meta"), directory_.path("data"),
                          directory_.path("wal"), port_, wants_password));
    return path;
  }

  std::uint16_t port_ = free_port();
  test::TemporaryDirectory directory_;
  test::Child server_;
};

TEST_CASE("the figures in InfluxDB at the end agree with the report") {
  need_root();
  const Influx influx;
  influx.wait_until_done("CREATE DATABASE gnb");
  Measured measured(fmt::format(
      "--influx '{}' --influx-every 1s --influx-tag gnb=north --budget none", influx.url()));
  measured.wait_for_packets();

  // A scrape shows the figures that were written at the same time.
  const std::string text = body_of(get(measured.port, "/metrics"));
  const std::string series = "sojourn_latency_seconds_count{direction=\"D\"} ";
  const auto at = text.find(series);
  REQUIRE(at != std::string::npos);
  const auto scraped = static_cast<std::uint64_t>(std::stod(text.substr(at + series.size())));
  json found;
  for (int turn = 0; turn < 100 && found.is_null(); ++turn) {
    std::this_thread::sleep_for(milliseconds(100));
    found = influx.row(fmt::format(
        "SELECT count FROM sojourn_latency_seconds WHERE direction='D' AND count={}", scraped));
  }
  CAPTURE(scraped);
  CHECK_FALSE(found.is_null());

  std::this_thread::sleep_for(milliseconds(2000));
  measured.capture.signal(SIGINT);
  const test::Ended ended = measured.capture.wait();
  REQUIRE(ended.exit_code == 0);
  CHECK(ended.out.contains("figures are written to " + influx.url() + " every 1s\n"));
  CHECK(ended.out.contains(" points to InfluxDB\n"));  // and none lost
  const json report =
      json::parse(sojourn_done({"report", "--json", "--raw", measured.directory.path("run.sjt")}));
  REQUIRE(report["lost"] == 0);
  // On a busy machine some may come too late for these figures, which say so.
  std::uint64_t missed = 0;
  for (const char* const name : {"sojourn_late_events", "sojourn_reader_lost_events"})
    missed +=
        influx.row(fmt::format("SELECT last(value) FROM {}", name)).at(0).get<std::uint64_t>();
  const auto is_near = [missed](std::uint64_t one, std::uint64_t other) {
    return std::max(one, other) - std::min(one, other) <= missed;
  };
  CHECK(influx.row("SELECT last(value) FROM sojourn_events WHERE gnb='north'") ==
        json::array({report["events"]}));
  for (const std::string direction : {"D", "U"}) {
    CAPTURE(direction);
    const json& reported = report["journeys"][direction];
    const json last =
        influx.row(fmt::format("SELECT last(count), \"sum\" FROM sojourn_latency_seconds WHERE "
                               "direction='{}' AND gnb='north'",
                               direction));
    REQUIRE(last.is_array());
    CAPTURE(last.dump(), reported.dump());
    CAPTURE(missed);
    CHECK(is_near(last[0], reported["complete"]));
    CHECK(last[0] > 1000);
    const double mean_us = last[1].get<double>() / last[0].get<double>() * 1e6;
    CHECK(std::abs(mean_us - reported["latency_us"]["mean"].get<double>()) < mean_us / 1000);
    const json complete =
        influx.row(fmt::format("SELECT last(value) FROM sojourn_journeys WHERE direction='{}' "
                               "AND outcome='complete'",
                               direction));
    REQUIRE(complete.is_array());
    CHECK(is_near(complete[0], reported["complete"]));
    // Both are medians of the last second, so they differ by a bucket, and by as much as seconds
    // do.
    const json p50 = influx.row(fmt::format(
        "SELECT median(p50) FROM sojourn_latency_seconds WHERE direction='{}'", direction));
    REQUIRE(p50.is_array());
    const double reported_p50 = reported["latency_us"]["p50"].get<double>() / 1e6;
    CHECK(p50[0].get<double>() > reported_p50 / 2);
    CHECK(p50[0].get<double>() < reported_p50 * 2);
  }
}

TEST_CASE("a password comes from a file, and a wrong one is reported once") {
  need_root();
  const Influx influx(true);
  influx.wait_until_done("CREATE USER admin WITH PASSWORD 'deep-sea' WITH ALL PRIVILEGES");
  const std::string who = "&u=admin&p=deep-sea";
  influx.wait_until_done("CREATE DATABASE gnb", who);
  for (const bool is_right : {true, false}) {
    CAPTURE(is_right);
    const test::TemporaryDirectory directory;
    test::write_contents(directory.path("token"), is_right ? "admin:deep-sea\n" : "admin:x\n");
    Measured measured(
        fmt::format("--for 4s --influx '{}' --influx-every 1s --influx-token '{}' "
                    "--influx-tag is=right{}",
                    influx.url(), directory.path("token"), is_right ? 1 : 0));
    const std::string line =
        test::contents(fmt::format("/proc/{}/cmdline", measured.capture.pid()));
    CHECK(line.contains("--influx-token"));
    CHECK_FALSE(line.contains("deep-sea"));
    const test::Ended ended = measured.capture.wait();
    CHECK(ended.exit_code == 0);
    const json events = influx.row(
        fmt::format("SELECT last(value) FROM sojourn_events WHERE is='right{}'", is_right ? 1 : 0),
        who);
    CHECK(events.is_null() != is_right);
    const std::string problem = "now: 401 authorization failed";
    const auto told = ended.out.find(problem);
    CHECK((told == std::string::npos) == is_right);
    if (is_right) continue;
    CHECK(ended.out.find(problem, told + 1) == std::string::npos);
    CHECK(ended.out.contains("wrote 0 points to InfluxDB; "));
  }
}

// Stopped, it takes connections and answers nothing.
TEST_CASE("a dead server costs the target and the trace nothing, and its points are counted") {
  need_root();
  const Influx influx;
  influx.wait_until_done("CREATE DATABASE gnb");
  influx.suspend();
  Measured measured(
      fmt::format("--for 3s --influx '{}' --influx-every 1s --budget none", influx.url()));
  const auto begin = std::chrono::steady_clock::now();
  const test::Ended ended = measured.capture.wait();
  CHECK(ended.exit_code == 0);
  CHECK(std::chrono::steady_clock::now() - begin < std::chrono::seconds(20));
  CHECK(ended.out.contains("wrote 0 points to InfluxDB; "));
  CHECK(ended.out.contains("   0 lost   "));
  const json report =
      json::parse(sojourn_done({"report", "--json", measured.directory.path("run.sjt")}));
  CHECK(report["lost"] == 0);
  CHECK(report["journeys"]["D"]["complete"] > 1000);
  CHECK(measured.station.running());
}

TEST_CASE("addresses and tokens that cannot be used are refused before anything is attached") {
  need_root();
  Station station;
  const std::string pid = std::to_string(station.pid());
  const auto refused = [&](std::vector<std::string> options) {
    std::vector<std::string> all = {"record", "-p", pid, "-o", "/dev/null"};
    all.insert(all.end(), options.begin(), options.end());
    return sojourn(std::move(all));
  };
  CHECK(refused({"--influx", "http://127.0.0.1:8086"}).exit_code == 2);
  CHECK(refused({"--influx", "http://127.0.0.1:8086/?db=x&p=y"}).exit_code == 2);
  CHECK(refused({"--influx-every", "5s"}).exit_code == 2);
  CHECK(refused({"--metrics-ues", "5"}).exit_code == 2);
  CHECK(refused({"--influx", "http://127.0.0.1:8086?db=x", "--influx-tag", "x"}).exit_code == 2);
  const test::Ended none =
      refused({"--influx", "http://127.0.0.1:8086?db=x", "--influx-token", "/nonexistent/token"});
  CHECK(none.exit_code == 1);
  CHECK(none.err == "sojourn: open /nonexistent/token: No such file or directory\n");
  const test::Ended unknown = refused({"--influx", "http://no-such-host.invalid?db=x"});
  CHECK(unknown.exit_code == 1);
  CHECK(unknown.err.contains("find no-such-host.invalid: "));
  CHECK_FALSE(unknown.err.contains("attached"));
}

}  // namespace
}  // namespace sojourn::live
