// `sojourn serve`: the report page for a capture that runs, or for traces, over HTTP.
#include <array>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <fmt/core.h>
#include <poll.h>
#include <unistd.h>

#include "userspace/base/fail_errno.h"
#include "userspace/base/fd.h"
#include "userspace/capture/api.h"
#include "userspace/cli/checks.h"
#include "userspace/cli/live/live_commands.h"
#include "userspace/cli/live/serve/page_server.h"
#include "userspace/cli/live/serve/served_trace.h"
#include "userspace/cli/live/view/caught_signals.h"
#include "userspace/cli/tell.h"
#include "userspace/files/stream_address.h"

namespace sojourn::cli {

namespace {

constexpr auto kServePoll = std::chrono::milliseconds(50);

struct ServeOptions {
  LiveSettings settings;
  std::vector<std::string> paths;
  std::string listen = "127.0.0.1:0";
  PageServerOptions server;
};

std::string check_listen(const std::string& text) {
  const auto address = files::parse_local_port(text);
  return address ? "" : address.error().text();
}

// Waits until the capture has begun, or waits for its start. False: a signal came.
Result<bool> wait_for_begin(ServedTrace& trace, const RecordOptions& record, int signals) {
  while (!trace.has_begun()) {
    const bool may_be_more = trace.follow();
    if (!trace.problem().empty()) return fail("{}", trace.problem());
    if (record.flight.waits() && capture::has_capture(trace.pid())) break;
    pollfd watched{.fd = signals, .events = POLLIN, .revents = 0};
    if (poll(&watched, 1, may_be_more ? 0 : static_cast<int>(kServePoll.count())) > 0) return false;
  }
  return true;
}

std::string host_name() {
  std::array<char, 256> name{};
  return gethostname(name.data(), name.size() - 1) == 0 ? name.data() : "HOST";
}

Result<void> tell_link(const files::StreamAddress& address, const std::string& link) {
  const std::string text = address.text();
  const std::string place = text.substr(text.find("://") + 3);
  fmt::print("http://{}{}\n", place, link);
  if (std::fflush(stdout) != 0) return fail_errno("write standard output");
  tell(
      "open that link; from another machine first: ssh -L {}:{} {}\n"
      "serves until it is interrupted\n",
      address.port, place, host_name());
  return {};
}

Result<void> serve(ServeOptions& options) {
  SJ_TRY(address, files::parse_local_port(options.listen));
  SJ_TRY(listener, files::listen_at(address));
  std::vector<std::unique_ptr<ServedTrace>> traces;
  for (const std::string& path : options.paths) {
    LiveSettings settings = options.settings;
    settings.path = path;
    SJ_TRY(trace, ServedTrace::open(std::move(settings)));
    traces.push_back(std::move(trace));
  }
  const bool captures = options.paths.empty();
  if (captures) {
    options.settings.not_for_capture = listener.get();
    SJ_TRY(trace, ServedTrace::capture(options.settings));
    traces.push_back(std::move(trace));
  }
  SJ_TRY(signals, catch_signals({SIGINT, SIGTERM, SIGHUP, SIGQUIT}));
  ServedTrace& first = *traces.front();
  if (captures) {
    SJ_TRY(has_begun, wait_for_begin(first, options.settings.record, signals.get()));
    if (!has_begun) {
      first.stop();
      return {};
    }
  }
  // Without requests to processes no rights are needed any more.
  if (options.server.is_readonly) SJ_CHECK(capture::give_up_rights());
  std::string link;
  SJ_TRY(server, PageServer::create(std::move(listener), std::move(traces), options.server, link));
  SJ_CHECK(tell_link(address, link));
  return server->run(signals.get());
}

constexpr auto kServeFooter =
    "The page is that of `sojourn open`, with one more view: the figures of `sojourn live`. All "
    "other views read the trace as far as it is written. They follow it until you pan, and again "
    "at a click.\n"
    "\n"
    "Examples:\n"
    "  sojourn serve -p $(pidof nr-softmodem)\n"
    "  sojourn serve -p $(pidof nr-softmodem) --wait     # begins at a click\n"
    "  sojourn serve run.sjt                 # while record writes it, or afterwards\n"
    "  sojourn serve monday.sjt tuesday.sjt --listen 127.0.0.1:8080\n"
    "\n"
    "A capture of its own is in a file without a name, in $TMPDIR or /var/tmp, and gone with "
    "serve; the page saves it. Anyone with the link can see everything, and without --readonly can "
    "switch points and end captures. docs/serve.md says more.";

}  // namespace

Action define_serve(Arguments& arguments) {
  auto options = std::make_shared<ServeOptions>();
  LiveSettings& settings = options->settings;
  arguments.heading("What to serve");
  const Argument traces =
      arguments
          .add_option("traces", options->paths,
                      "Traces: one that is being written is followed, also while it has no final "
                      "name yet")
          .type_name("FILE");
  settings.define_choice(arguments);
  arguments.heading("To whom");
  arguments
      .add_option("--listen", options->listen,
                  "Where to listen. Loopback only: `ssh -L` makes it a port of your own machine. "
                  "Port 0 is any free one")
      .type_name("ADDR:PORT")
      .capture_default_str()
      .check(check_listen);
  arguments
      .add_option("--clients", options->server.clients,
                  "The most connections at once; a page has one, and one more while it reads")
      .type_name("N")
      .capture_default_str()
      .check(whole_number(2, 500));
  arguments.add_flag("--readonly", options->server.is_readonly,
                     "No page changes anything in a process or a capture");
  arguments.heading("Live figures");
  settings.define_window(arguments);
  settings.define_causes(arguments);
  settings.record.define_capture(arguments);
  settings.record.flight.define_wait(arguments);
  arguments.heading("Monitoring while it captures");
  settings.record.metrics.define(arguments);
  arguments.when_parsed([options, traces] {
    const RecordOptions& record = options->settings.record;
    if (traces.is_given() == record.processes.given())
      refuse_usage(
          "give either a running process (-p PID, also several, or --cgroup PATH) or traces");
    record.metrics.check();
    if (traces.is_given() && record.metrics.is_given())
      refuse_usage(
          "--metrics and --influx are of a capture: give them to the `record` that writes the "
          "trace");
  });
  arguments.footer(kServeFooter);
  return [options] { return serve(*options); };
}

}  // namespace sojourn::cli
