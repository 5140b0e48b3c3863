// Metrics of a running capture, scraped by Debian's Prometheus and checked by its promtool.
#include <algorithm>
#include <chrono>
#include <cmath>
#include <csignal>
#include <map>
#include <sstream>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include <catch2/catch_test_macros.hpp>
#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "analysis/metrics/latency_histogram.h"
#include "tests/live/measured.h"
#include "tests/live/programs.h"
#include "userspace/files/stream_address.h"

namespace sojourn::live {
namespace {

using nlohmann::json;
using std::chrono::milliseconds;

TEST_CASE("metrics are served to requests that name this machine, and promtool accepts them") {
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

json answer_of(std::uint16_t port, const std::string& words) {
  // By HTTP 1.0 a long answer comes in one piece as well.
  const std::string answer = ask(
      port, "GET /api/v1/query?query=" + escaped(words) + " HTTP/1.0\r\nHost: 127.0.0.1\r\n\r\n");
  return json::parse(body_of(answer), nullptr, false);
}

// The query's value for each direction.
std::map<std::string, double> query(std::uint16_t port, const std::string& words) {
  const json answer = answer_of(port, words);
  std::map<std::string, double> values;
  if (answer.is_discarded() || answer["status"] != "success") return values;
  for (const json& one : answer["data"]["result"])
    values[one["metric"].value("direction", "")] = std::stod(one["value"][1].get<std::string>());
  return values;
}

// Debian's Prometheus, which scrapes one port.
struct Prometheus {
  Prometheus(const test::TemporaryDirectory& directory, std::uint16_t scraped,
             std::vector<std::string> options = {})
      : server(arguments(directory, scraped, port, std::move(options))) {}

  static std::vector<std::string> arguments(const test::TemporaryDirectory& directory,
                                            std::uint16_t scraped, std::uint16_t port,
                                            std::vector<std::string> options) {
    const std::string config = directory.path("prometheus.yml");
    test::write_contents(config, fmt::format("global:\n  scrape_interval: 1s\n"
                                             "scrape_configs:\n  - job_name: sojourn\n"
                                             "    static_configs:\n"
                                             "      - targets: ['127.0.0.1:{}']\n",
                                             scraped));
    std::vector<std::string> all = {
        "prometheus", "--config.file=" + config, "--storage.tsdb.path=" + directory.path("tsdb"),
        fmt::format("--web.listen-address=127.0.0.1:{}", port), "--log.level=error"};
    all.insert(all.end(), options.begin(), options.end());
    return all;
  }
  bool is_up() const {
    return files::connect_to({.host = "127.0.0.1", .port = port, .path = {}}).has_value();
  }

  std::uint16_t port = free_port();
  test::Child server;
};

// The width of the bucket that the time is in.
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
  const Prometheus prometheus(measured.directory, measured.port);
  measured.wait_for_packets();
  std::this_thread::sleep_for(milliseconds(6000));
  std::map<std::string, double> packets;
  std::map<double, std::map<std::string, double>> quantiles;
  for (int turn = 0; turn < 120 && quantiles[0.5].size() < 2; ++turn) {
    std::this_thread::sleep_for(milliseconds(500));
    if (!prometheus.is_up()) continue;
    packets = query(prometheus.port, "sojourn_latency_seconds_count");
    for (const double share : {0.5, 0.9, 0.99})
      quantiles[share] =
          query(prometheus.port,
                fmt::format("histogram_quantile({}, sojourn_latency_seconds_bucket)", share));
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

// The bounds of the classic bucket that holds the quantile, by the text of the metrics.
std::pair<double, double> bucket_in_text(const std::string& text, const std::string& direction,
                                         double share) {
  const auto value_of = [&](const std::string& series) {
    const auto at = text.find(series + "} ");
    REQUIRE(at != std::string::npos);
    return std::stod(text.substr(at + series.size() + 2));
  };
  const std::string labels = "{direction=\"" + direction + "\"";
  const double rank = share * value_of("sojourn_latency_seconds_count" + labels);
  double low = 0;
  for (const std::uint64_t bound_ns : metrics::LatencyHistogram::kBoundsNs) {
    const double high = static_cast<double>(bound_ns) / 1e9;
    if (value_of(fmt::format("sojourn_latency_seconds_bucket{},le=\"{}\"", labels, high)) >= rank)
      return {low, high};
    low = high;
  }
  FAIL("the quantile is beyond the last bound");
  return {};
}

TEST_CASE("Prometheus takes native histograms, whose quantiles are in the text's buckets") {
  need_root();
  Measured measured;
  const Prometheus prometheus(measured.directory, measured.port,
                              {"--enable-feature=native-histograms"});
  measured.wait_for_packets();
  std::map<double, std::map<std::string, double>> quantiles;
  std::map<std::string, double> packets;
  for (int turn = 0; turn < 120 && (packets["D"] < 50'000 || packets["U"] < 30'000); ++turn) {
    std::this_thread::sleep_for(milliseconds(500));
    if (!prometheus.is_up()) continue;
    // Only a native histogram has a count without its buckets' series.
    packets = query(prometheus.port, "histogram_count(sojourn_latency_seconds)");
    for (const double share : {0.5, 0.9, 0.99})
      quantiles[share] = query(
          prometheus.port, fmt::format("histogram_quantile({}, sojourn_latency_seconds)", share));
  }
  CHECK(packets["D"] > 1000);
  CHECK(packets["U"] > 1000);
  const std::string text = body_of(get(measured.port, "/metrics"));
  for (const std::string direction : {"D", "U"})
    for (const auto& [share, values] : quantiles) {
      REQUIRE(values.contains(direction));
      const double native = values.at(direction);
      const auto [low, high] = bucket_in_text(text, direction, share);
      CAPTURE(direction, share, packets[direction], native, low, high);
      // A native bucket is 9 % wide, and the text is a second or two younger.
      CHECK(native >= low / 1.2);
      CHECK(native <= high * 1.2);
    }
}

// The dashboard's queries, with the variables that Grafana fills in.
std::vector<std::string> dashboard_queries() {
  const json dashboard = json::parse(test::contents(SJ_MONITORING "/dashboard.json"));
  std::vector<std::string> queries;
  const auto replace = [](std::string& words, std::string_view from, std::string_view to) {
    for (auto at = words.find(from); at != std::string::npos; at = words.find(from))
      words.replace(at, from.size(), to);
  };
  for (const json& panel : dashboard.at("panels"))
    for (const json& target : panel.at("targets")) {
      std::string words = target.at("expr");
      replace(words, "$__rate_interval", "4s");
      replace(words, "$instance", ".*");
      queries.push_back(words);
    }
  return queries;
}

// The expressions of a file of rules, which stand on one line each.
std::vector<std::string> alert_expressions(const std::string& rules) {
  std::vector<std::string> expressions;
  std::istringstream lines(rules);
  for (std::string line; std::getline(lines, line);)
    if (const auto at = line.find("expr: "); at != std::string::npos)
      expressions.push_back(line.substr(at + 6));
  return expressions;
}

TEST_CASE("each query of the dashboard has an answer, and each alert rule can be evaluated") {
  need_root();
  Measured measured("--queues 1ms --metrics-ues 3");
  const std::string rules = SJ_MONITORING "/alerts.yml";
  CHECK(test::run({"promtool", "check", "rules", rules}).exit_code == 0);
  const Prometheus prometheus(measured.directory, measured.port);
  measured.wait_for_packets();
  const std::vector<std::string> queries = dashboard_queries();
  REQUIRE(queries.size() > 12);
  std::vector<std::string> open = queries;
  for (int turn = 0; turn < 120 && !open.empty(); ++turn) {
    std::this_thread::sleep_for(milliseconds(500));
    if (!prometheus.is_up()) continue;
    std::erase_if(open, [&](const std::string& words) {
      const json answer = answer_of(prometheus.port, words);
      if (answer.is_discarded()) return false;
      INFO(words << ": " << answer.dump());
      REQUIRE(answer["status"] == "success");
      return !answer["data"]["result"].empty();
    });
  }
  CAPTURE(open);
  CHECK(open.empty());

  const std::string metrics = body_of(get(measured.port, "/metrics"));
  CHECK(metrics.contains("sojourn_ue_latency_seconds_count{direction=\"D\",ue=\"others\"}"));
  CHECK(metrics.contains(
      "sojourn_slow_packets_total{direction=\"D\",cause=\"queue\",place=\"rlc.tx"));
  for (const std::string& rule : alert_expressions(test::contents(rules))) {
    const json answer = answer_of(prometheus.port, rule);
    INFO(rule << ": " << answer.dump());
    CHECK(answer.value("status", "") == "success");
  }
}

}  // namespace
}  // namespace sojourn::live
