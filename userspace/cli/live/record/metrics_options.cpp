#include "userspace/cli/live/record/metrics_options.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <chrono>
#include <utility>

#include <unistd.h>

#include "userspace/cli/tell.h"
#include "userspace/cli/units.h"
#include "userspace/files/stream_address.h"
#include "userspace/files/text_file.h"

namespace sojourn::cli {

namespace {

constexpr std::size_t kMaxUesOfMetrics = 1000;

std::string check_metrics_address(const std::string& text) {
  const auto address = files::parse_local_address(text);
  return address ? "" : address.error().text();
}

std::string check_ues(const std::string& text) {
  std::size_t ues = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), ues);
  const bool is_number = error == std::errc() && end == text.data() + text.size();
  return is_number && ues >= 1 && ues <= kMaxUesOfMetrics ? "" : "a number of 1 to 1000 is wanted";
}

std::string check_influx(const std::string& text) {
  const auto url = capture::parse_influx_url(text);
  return url ? "" : url.error().text();
}

std::string check_influx_period(const std::string& text) {
  const auto period = parse_duration(text);
  if (!period) return period.error().text();
  return *period < std::chrono::seconds(1) || *period > std::chrono::hours(1)
             ? "a time of 1s to 1h is wanted"
             : "";
}

// Refuses what is not "NAME=VALUE" with a name and a value.
std::string check_tag(const std::string& text) {
  const std::size_t equals = text.find('=');
  return equals == std::string::npos || equals == 0 || equals + 1 == text.size()
             ? "NAME=VALUE is wanted, such as gnb=north"
             : "";
}

std::string this_host() {
  std::array<char, 256> name{};
  return gethostname(name.data(), name.size() - 1) == 0 ? name.data() : "";
}

// Its first line.
Result<std::string> read_secret(const std::string& path) {
  SJ_TRY(text, files::read_text(path, "token is"));
  text.erase(std::min(text.find_first_of("\r\n"), text.size()));
  if (text.empty()) return fail("{}: its first line is empty, and should be the token", path);
  for (const char letter : text)
    if (static_cast<unsigned char>(letter) <= 0x20 || letter == 0x7f)
      return fail("{}: its first line is no token: there are blanks in it", path);
  return std::move(text);
}

bool is_loopback(const std::string& host) {
  return host == "localhost" || host == "::1" || host.starts_with("127.");
}

}  // namespace

void MetricsChoice::define(Arguments& arguments) {
  arguments
      .add_option("--metrics", address_,
                  "Serve figures for Prometheus, while it records, at http://ADDR:PORT/metrics: "
                  "latencies, stays, causes of slow packets, units inside, queues, losses, what "
                  "tracing costs. Loopback only (docs/metrics.md)")
      .type_name("ADDR:PORT|unix:PATH")
      .check(check_metrics_address);
  const Argument influx =
      arguments
          .add_option("--influx", influx_,
                      "Write the same figures to an InfluxDB: http://HOST:8086/write?db=NAME, or "
                      "of version 2 http://HOST:8086/api/v2/write?org=ORG&bucket=BUCKET")
          .type_name("URL")
          .check(check_influx);
  arguments.add_option("--influx-every", influx_period_, "How often, for --influx")
      .type_name("TIME")
      .capture_default_str()
      .check(check_influx_period)
      .needs(influx);
  arguments
      .add_option("--influx-token", influx_token_,
                  "The file whose first line is the token for --influx; of version 1 "
                  "NAME:PASSWORD")
      .type_name("FILE")
      .needs(influx);
  arguments
      .add_option("--influx-tag", influx_tags_,
                  "A tag of all points of --influx, besides host=NAME of this machine. Two "
                  "captures of one machine need one each")
      .type_name("NAME=VALUE")
      .one_word_each()
      .check(check_tag)
      .needs(influx);
  arguments
      .add_option("--metrics-ues", ues_,
                  "Also a latency histogram of each UE for --metrics and --influx, of the first N "
                  "that are seen; the others count as one. At most 1000")
      .type_name("N")
      .check(check_ues);
}

void MetricsChoice::check() const {
  if (ues_ != 0 && !is_given()) refuse_usage("--metrics-ues requires --metrics or --influx");
}

Result<void> MetricsChoice::apply(capture::Options& options) const {
  options.metrics.ues = ues_;
  if (!address_.empty()) {
    SJ_TRY(address, files::parse_local_address(address_));
    options.metrics.address = address;
  }
  return influx_.empty() ? Result<void>{} : apply_influx(options.metrics);
}

Result<void> MetricsChoice::apply_influx(capture::MetricsOptions& options) const {
  capture::InfluxOptions influx;
  SJ_TRY(url, capture::parse_influx_url(influx_));
  SJ_TRY(period, parse_duration(influx_period_));
  influx.url = std::move(url);
  influx.period = period;
  if (!influx_token_.empty()) {
    SJ_TRY(secret, read_secret(influx_token_));
    influx.authorization = capture::influx_authorization(influx.url, secret);
  }
  influx.tags.emplace_back("host", this_host());
  for (const std::string& tag : influx_tags_) {
    const std::size_t equals = tag.find('=');
    std::string name = tag.substr(0, equals);
    if (name == "host") influx.tags.clear();
    influx.tags.emplace_back(std::move(name), tag.substr(equals + 1));
  }
  options.influx = std::move(influx);
  return {};
}

void tell_metrics(const capture::Capture& capture, const MetricsChoice& choice) {
  if (const auto address = capture.metrics())
    tell("metrics for Prometheus: {}\n",
         address->starts_with("tcp") ? "http" + address->substr(3) + "/metrics" : *address);
  choice.tell_influx();
}

void MetricsChoice::tell_influx() const {
  if (influx_.empty()) return;
  const auto url = capture::parse_influx_url(influx_);
  if (!url) return;
  tell("figures are written to {} every {}\n", url->text(), influx_period_);
  if (!influx_token_.empty() && !is_loopback(url->host))
    tell("the token is sent to {} as it is: HTTP encrypts nothing\n", url->host);
}

void tell_monitored(const capture::Outcome& outcome) {
  if (!outcome.influx) return;
  tell("wrote {} to InfluxDB", counted(outcome.influx->written, "point"));
  if (outcome.influx->lost != 0)
    tell("; {} lost: {}", grouped(outcome.influx->lost), outcome.influx->why_lost);
  tell("\n");
}

}  // namespace sojourn::cli
