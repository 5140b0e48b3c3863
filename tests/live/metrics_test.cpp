// Metrics of a running capture, scraped by Debian's Prometheus and checked by its promtool.
#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <csignal>
#include <map>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include <catch2/catch_test_macros.hpp>
#include <fmt/format.h>
#include <nlohmann/json.hpp>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include "analysis/metrics/latency_histogram.h"
#include "tests/live/programs.h"
#include "userspace/files/stream_address.h"

namespace sojourn::live {
namespace {

using nlohmann::json;
using std::chrono::milliseconds;

// A port that was free a moment ago.
std::uint16_t free_port() {
  auto address = files::parse_stream_address("127.0.0.1:0");
  REQUIRE(address);
  REQUIRE(files::listen_at(*address));
  return address->port;
}

std::string ask(std::uint16_t port, const std::string& request) {
  auto fd = files::connect_to(files::StreamAddress{.host = "127.0.0.1", .port = port, .path = {}});
  REQUIRE(fd);
  REQUIRE(send(fd->get(), request.data(), request.size(), MSG_NOSIGNAL) ==
          static_cast<ssize_t>(request.size()));
  std::string answer;
  std::array<char, 65'536> piece{};
  for (;;) {
    pollfd wanted{.fd = fd->get(), .events = POLLIN, .revents = 0};
    REQUIRE(poll(&wanted, 1, 30'000) == 1);
    const ssize_t got = read(fd->get(), piece.data(), piece.size());
    if (got <= 0) return answer;
    answer.append(piece.data(), static_cast<std::size_t>(got));
  }
}

std::string get(std::uint16_t port, const std::string& path, const std::string& more = "") {
  return ask(port, "GET " + path + " HTTP/1.1\r\nHost: 127.0.0.1:" + std::to_string(port) + "\r\n" +
                       more + "\r\n");
}

std::string body_of(const std::string& answer) {
  const auto end = answer.find("\r\n\r\n");
  REQUIRE(end != std::string::npos);
  return answer.substr(end + 4);
}

// A base station that is recorded, with its metrics at a port.
struct Measured {
  Measured()
      : capture({"sh", "-c",
                 fmt::format("exec '{}' record -p {} -o '{}' --metrics 127.0.0.1:{} 2>&1",
                             SJ_SOJOURN, station.pid(), directory.path("run.sjt"), port)}) {
    REQUIRE(capture.wait_for_output("/metrics"));
  }
  void wait_for_packets() const {
    for (int turn = 0; turn < 600; ++turn) {
      if (get(port, "/metrics").contains("sojourn_latency_seconds_count{direction=\"D\"}")) return;
      std::this_thread::sleep_for(milliseconds(100));
    }
    FAIL("no latency was told in a minute");
  }

  std::uint16_t port = free_port();
  test::TemporaryDirectory directory;
  Station station;
  test::Child capture;
};

TEST_CASE("metrics are served to who names this machine, and promtool finds nothing wrong") {
  need_root();
  Measured measured;
  measured.wait_for_packets();
  const std::string answer = get(measured.port, "/metrics");
  CHECK(answer.starts_with("HTTP/1.1 200 OK\r\n"));
  CHECK(answer.contains("Content-Type: text/plain; version=0.0.4; charset=utf-8\r\n"));
  const std::string file = measured.directory.path("metrics");
  test::write_contents(file, body_of(answer));
  const test::Ended checked =
      test::run({"sh", "-c", "promtool check metrics < '" + file + "' 2>&1"});
  CHECK(checked.out.empty());
  CHECK(checked.exit_code == 0);
  const std::string open =
      get(measured.port, "/metrics", "Accept: application/openmetrics-text; version=1.0.0\r\n");
  CHECK(open.contains("Content-Type: application/openmetrics-text; version=1.0.0"));
  CHECK(open.contains("# UNIT sojourn_latency_seconds seconds\n"));
  CHECK(open.contains(" # {journey=\""));
  CHECK(open.ends_with("# EOF\n"));

  CHECK(get(measured.port, "/").starts_with("HTTP/1.1 404"));
  CHECK(ask(measured.port, "POST /metrics HTTP/1.1\r\nHost: localhost\r\n\r\n")
            .starts_with("HTTP/1.1 405"));
  CHECK(ask(measured.port, "GET /metrics HTTP/1.1\r\nHost: evil.example\r\n\r\n")
            .starts_with("HTTP/1.1 403"));
  CHECK(ask(measured.port, "GET /metrics HTTP/1.1\r\n\r\n").starts_with("HTTP/1.1 403"));
  CHECK(ask(measured.port, "nonsense\r\n\r\n").starts_with("HTTP/1.1 400"));
}

// What the query is answered with: the value of each direction.
std::map<std::string, double> query(std::uint16_t port, const std::string& words) {
  std::string escaped;
  for (const unsigned char letter : words) escaped += fmt::format("%{:02x}", letter);
  const json answer =
      json::parse(body_of(get(port, "/api/v1/query?query=" + escaped, "Connection: close\r\n")),
                  nullptr, false);
  std::map<std::string, double> values;
  if (answer.is_discarded() || answer["status"] != "success") return values;
  for (const json& one : answer["data"]["result"])
    values[one["metric"].value("direction", "")] = std::stod(one["value"][1].get<std::string>());
  return values;
}

// Of the bucket that the time is in.
double bucket_width(double seconds) {
  constexpr auto& kBounds = metrics::LatencyHistogram::kBoundsNs;
  const std::size_t bucket =
      metrics::LatencyHistogram::bucket_of(static_cast<std::uint64_t>(std::llround(seconds * 1e9)));
  REQUIRE(bucket < kBounds.size());
  return static_cast<double>(kBounds[bucket] - (bucket == 0 ? 0 : kBounds[bucket - 1])) / 1e9;
}

TEST_CASE("Prometheus scrapes a capture, and its quantiles are in the report's buckets") {
  need_root();
  Measured measured;
  const std::uint16_t port = free_port();
  const std::string config = measured.directory.path("prometheus.yml");
  test::write_contents(config, fmt::format("global:\n  scrape_interval: 1s\n"
                                           "scrape_configs:\n  - job_name: sojourn\n"
                                           "    static_configs:\n"
                                           "      - targets: ['127.0.0.1:{}']\n",
                                           measured.port));
  const test::Child prometheus({"prometheus", "--config.file=" + config,
                                "--storage.tsdb.path=" + measured.directory.path("tsdb"),
                                fmt::format("--web.listen-address=127.0.0.1:{}", port),
                                "--log.level=error"});
  measured.wait_for_packets();
  std::this_thread::sleep_for(milliseconds(6000));
  std::map<std::string, double> packets;
  std::map<double, std::map<std::string, double>> quantiles;
  for (int turn = 0; turn < 120 && quantiles[0.5].size() < 2; ++turn) {
    std::this_thread::sleep_for(milliseconds(500));
    if (!files::connect_to({.host = "127.0.0.1", .port = port, .path = {}})) continue;
    packets = query(port, "sojourn_latency_seconds_count");
    for (const double share : {0.5, 0.9, 0.99})
      quantiles[share] =
          query(port, fmt::format("histogram_quantile({}, sojourn_latency_seconds_bucket)", share));
  }
  CHECK(packets["D"] > 1000);
  CHECK(packets["U"] > 1000);
  measured.capture.signal(SIGINT);
  REQUIRE(measured.capture.wait().exit_code == 0);
  const json report =
      json::parse(sojourn_done({"report", "--json", measured.directory.path("run.sjt")}));
  for (const std::string direction : {"D", "U"})
    for (const auto& [share, name] :
         {std::pair(0.5, "p50"), std::pair(0.9, "p90"), std::pair(0.99, "p99")}) {
      CAPTURE(direction, name);
      const double reported = report["journeys"][direction]["latency_us"][name].get<double>() / 1e6;
      REQUIRE(quantiles[share].contains(direction));
      const double scraped = quantiles[share][direction];
      CAPTURE(reported, scraped);
      CHECK(std::abs(scraped - reported) <= bucket_width(std::max(scraped, reported)));
    }
}

}  // namespace
}  // namespace sojourn::live
