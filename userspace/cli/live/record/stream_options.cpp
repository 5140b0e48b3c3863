#include "userspace/cli/live/record/stream_options.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <climits>
#include <utility>

#include <unistd.h>

#include "userspace/cli/tell.h"
#include "userspace/cli/units.h"
#include "userspace/files/stream_access.h"
#include "userspace/files/stream_address.h"

namespace sojourn::cli {

namespace {

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

Result<void> add(const std::vector<std::string>& texts, std::vector<files::StreamAddress>& to) {
  for (const std::string& text : texts) {
    SJ_TRY(address, files::parse_stream_address(text));
    to.push_back(std::move(address));
  }
  return {};
}

bool has_tls(const std::vector<std::string>& texts) {
  return std::ranges::any_of(texts, [](const std::string& text) {
    const auto address = files::parse_stream_address(text);
    return address && address->is_tls;
  });
}

// Another host does not know it as 0.0.0.0.
std::string reached_at(const std::string& text) {
  auto address = files::parse_stream_address(text);
  if (!address || !address->is_tls) return text;
  std::array<char, HOST_NAME_MAX + 1> name{};
  if ((address->host == "0.0.0.0" || address->host == "::") &&
      gethostname(name.data(), name.size() - 1) == 0)
    address->host = name.data();
  return address->text() + ", with SOJOURN_TOKEN_FILE and SOJOURN_TLS_CA set";
}

}  // namespace

void StreamOptions::define(Arguments& arguments) {
  arguments
      .add_option("--listen", listen_,
                  "Also send the trace, while it is written, to readers that connect to this "
                  "address: 127.0.0.1:9000, unix:/run/gnb.sock, or tls://0.0.0.0:9000. Each reader "
                  "gets a trace of its own, which begins when it connects: `nc 127.0.0.1 9000 > "
                  "part.sjt`, `sojourn report tcp://127.0.0.1:9000`. A slow reader loses events; "
                  "its trace counts them. Without TLS only on this machine: ssh -L forwards it")
      .type_name("ADDR:PORT|unix:PATH|tls://ADDR:PORT")
      .one_word_each()
      .check(check_address);
  arguments
      .add_option("--stream", connect_,
                  "Also send the trace to a reader that listens already: connects to "
                  "tcp://127.0.0.1:9000, unix:PATH or tls://HOST:PORT before anything is attached, "
                  "and again where that connection breaks")
      .type_name("tcp://ADDR:PORT|unix:PATH|tls://HOST:PORT")
      .one_word_each()
      .check(check_address);
  arguments.add_flag("--unread-only", unread_only_,
                     "Write events to the file only while the stream has no reader. The file's "
                     "ledger counts the others as \"streamed\"");
  arguments.add_flag("--text", text_,
                     "Also print the events on standard output while it records, as `sojourn "
                     "events` does");
  define_tls(arguments);
  arguments
      .add_option("--flush-every", flush_period_,
                  "How often events that do not fill a block yet are written and sent; default: "
                  "1s. `sojourn ctl flush` does it at once")
      .type_name("TIME")
      .check(check_flush_period);
}

void StreamOptions::define_tls(Arguments& arguments) {
  arguments
      .add_option("--tls-cert", tls_cert_,
                  "The certificate of --listen tls://, as PEM, with its chain behind it "
                  "(docs/streaming.md says how to make one)")
      .type_name("FILE");
  arguments.add_option("--tls-key", tls_key_, "Its key, as PEM; not everybody may read it")
      .type_name("FILE");
  arguments
      .add_option("--tls-ca", tls_ca_,
                  "The certificates that --stream tls:// trusts; default: the system's")
      .type_name("FILE");
  arguments
      .add_option(
          "--token-file", token_file_,
          "The file whose first line is the token that a reader by TLS must send first. Default: "
          "the file that SOJOURN_TOKEN_FILE names, else the token in SOJOURN_TOKEN")
      .type_name("FILE");
}

void StreamOptions::check() const {
  const bool listens = has_tls(listen_);
  const bool connects = has_tls(connect_);
  if (listens && (tls_cert_.empty() || tls_key_.empty()))
    refuse_usage("--listen tls:// wants --tls-cert FILE and --tls-key FILE (docs/streaming.md)");
  if (!listens && (!tls_cert_.empty() || !tls_key_.empty()))
    refuse_usage("--tls-cert and --tls-key are for --listen tls://ADDR:PORT");
  if (!connects && !tls_ca_.empty()) refuse_usage("--tls-ca is for --stream tls://HOST:PORT");
  if (!listens && !connects && !token_file_.empty())
    refuse_usage("--token-file is for --listen and --stream tls://");
  if (unread_only_ && listen_.empty() && connect_.empty())
    refuse_usage("--unread-only wants --listen or --stream");
}

Result<void> StreamOptions::apply(capture::Options& options) const {
  SJ_CHECK(add(listen_, options.stream.listen));
  SJ_CHECK(add(connect_, options.stream.connect));
  options.stream.keeps_unread_only = unread_only_;
  options.stream.has_own_reader = text_;
  if (has_tls(listen_) || has_tls(connect_)) {
    SJ_TRY(token,
           token_file_.empty() ? files::token_of_environment() : files::read_token(token_file_));
    options.stream.token = std::move(token);
    options.stream.certificate = tls_cert_;
    options.stream.key = tls_key_;
    options.stream.authorities = tls_ca_;
  }
  if (!flush_period_.empty()) {
    SJ_TRY(period, parse_duration(flush_period_));
    options.flush_period = period;
  }
  return {};
}

void tell_streams(const capture::Capture& capture) {
  for (const std::string& address : capture.streams())
    tell("readers may connect: sojourn report {}\n", reached_at(address));
}

void tell_streamed(const capture::Outcome& outcome) {
  if (outcome.streamed.readers == 0) return;
  tell("streamed to {}", counted(outcome.streamed.readers, "reader"));
  if (outcome.streamed.lost != 0)
    tell("; slow ones lost {}, which their traces count", counted(outcome.streamed.lost, "event"));
  if (outcome.reconnections != 0)
    tell("; their connections were made again {}", counted(outcome.reconnections, "time"));
  if (outcome.has_cut_off_readers) tell("; readers that took nothing any more were cut off");
  tell("\n");
}

}  // namespace sojourn::cli
