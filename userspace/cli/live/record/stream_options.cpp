#include "userspace/cli/live/record/stream_options.h"

#include <charconv>
#include <chrono>

#include "userspace/cli/tell.h"
#include "userspace/cli/units.h"
#include "userspace/files/stream_address.h"

namespace sojourn::cli {

namespace {

constexpr std::size_t kMaxUes = 1000;

std::string check_address(const std::string& text) {
  const auto address = files::parse_stream_address(text);
  return address ? "" : address.error().text();
}

std::string check_flush_period(const std::string& text) {
  const auto period = parse_duration(text);
  if (!period) return period.error().text();
  return *period < std::chrono::milliseconds(10) || *period > std::chrono::minutes(1)
             ? "a time of 10ms to 1min is wanted"
             : "";
}

std::string check_ues(const std::string& text) {
  std::size_t ues = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), ues);
  const bool is_number = error == std::errc() && end == text.data() + text.size();
  return is_number && ues >= 1 && ues <= kMaxUes ? "" : "a number of 1 to 1000 is wanted";
}

Result<void> add(const std::vector<std::string>& texts, std::vector<files::StreamAddress>& to) {
  for (const std::string& text : texts) {
    SJ_TRY(address, files::parse_stream_address(text));
    to.push_back(std::move(address));
  }
  return {};
}

}  // namespace

void StreamOptions::define(Arguments& arguments) {
  arguments
      .add_option("--listen", listen_,
                  "Also send the trace, while it is written, to whoever connects here: "
                  "127.0.0.1:9000 or unix:/run/gnb.sock. Each reader gets a trace of its own, from "
                  "when it came: `nc 127.0.0.1 9000 > part.sjt`, `sojourn report "
                  "tcp://127.0.0.1:9000`. A slow reader loses events; its trace counts them. "
                  "Loopback only: ssh -L forwards it")
      .type_name("ADDR:PORT|unix:PATH")
      .one_word_each()
      .check(check_address);
  arguments
      .add_option("--stream", connect_,
                  "The same to somebody who listens already: connects to tcp://127.0.0.1:9000 or "
                  "unix:PATH before anything is attached")
      .type_name("tcp://ADDR:PORT|unix:PATH")
      .one_word_each()
      .check(check_address);
  arguments
      .add_option("--flush-every", flush_period_,
                  "How often events that do not fill a block yet are written and sent; default: "
                  "1s. `sojourn ctl flush` does it at once")
      .type_name("TIME")
      .check(check_flush_period);
  const Argument metrics =
      arguments
          .add_option(
              "--metrics", metrics_,
              "Serve figures for Prometheus, while it records, at http://ADDR:PORT/metrics: "
              "latencies, stays, causes of slow packets, units inside, queues, losses, what "
              "tracing costs. Loopback only (docs/metrics.md)")
          .type_name("ADDR:PORT|unix:PATH")
          .check(check_address);
  arguments
      .add_option(
          "--metrics-ues", metrics_ues_,
          "Also a latency histogram of each UE for --metrics, of the first N that are seen; "
          "the others count as one. At most 1000")
      .type_name("N")
      .check(check_ues)
      .needs(metrics);
}

Result<void> StreamOptions::apply(capture::Options& options) const {
  SJ_CHECK(add(listen_, options.stream.listen));
  SJ_CHECK(add(connect_, options.stream.connect));
  if (!flush_period_.empty()) {
    SJ_TRY(period, parse_duration(flush_period_));
    options.flush_period = period;
  }
  if (!metrics_.empty()) {
    SJ_TRY(address, files::parse_stream_address(metrics_));
    options.metrics = address;
    options.metrics_ues = metrics_ues_;
  }
  return {};
}

void tell_streams(const capture::Capture& capture) {
  for (const std::string& address : capture.streams())
    tell("readers may connect: sojourn report {}\n", address);
  if (const auto address = capture.metrics())
    tell("metrics for Prometheus: {}\n",
         address->starts_with("tcp") ? "http" + address->substr(3) + "/metrics" : *address);
}

void tell_streamed(const capture::Outcome& outcome) {
  if (outcome.streamed.readers != 0)
    tell("streamed to {}", counted(outcome.streamed.readers, "reader"));
  if (outcome.streamed.lost != 0)
    tell("; slow ones lost {}, which their traces count", counted(outcome.streamed.lost, "event"));
  if (outcome.has_cut_off_readers) tell("; readers that took nothing any more were cut off");
  if (outcome.streamed.readers != 0) tell("\n");
}

}  // namespace sojourn::cli
