// `sojourn live`: where packets spend their time now, in the terminal.
#include <csignal>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include <unistd.h>

#include "userspace/cli/checks.h"
#include "userspace/cli/live/live_commands.h"
#include "userspace/cli/live/view/caught_signals.h"
#include "userspace/cli/live/view/live_lines.h"
#include "userspace/cli/live/view/live_loop.h"
#include "userspace/cli/live/view/live_session.h"
#include "userspace/cli/tell.h"
#include "userspace/cli/trace_argument.h"
#include "userspace/cli/units.h"
#include "userspace/live/terminal_screen.h"

namespace sojourn::cli {

namespace {

Result<void> show(const LiveSettings& settings, LiveSession& session) {
  const bool is_plain = settings.plain || settings.json || settings.count != 0 ||
                        isatty(STDOUT_FILENO) == 0 || isatty(STDIN_FILENO) == 0;
  if (is_plain) {
    SJ_TRY(signals, catch_signals({SIGINT, SIGTERM, SIGHUP, SIGQUIT}));
    SJ_TRY(has_begun, wait_for_capture(session, signals.get()));
    return has_begun ? run_lines(settings, session, signals.get()) : Result<void>{};
  }
  SJ_TRY(signals, catch_signals({SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGWINCH, SIGTSTP, SIGCONT}));
  SJ_TRY(has_begun, wait_for_capture(session, signals.get()));
  if (!has_begun) return {};
  SJ_TRY(terminal, live_view::TerminalScreen::open());
  if (!terminal) return fail("the terminal does not answer: --plain prints lines");
  return run_screen(settings, session, *terminal, signals.get());
}

Result<void> live_view_of(LiveSettings& settings) {
  SJ_TRY(session, LiveSession::start(settings));
  auto shown = show(settings, *session);
  session->stop();
  // The capture's messages that came while the screen was shown.
  pass_messages_on(*session);
  if (shown && !session->failure().empty()) tell("{}\n", session->failure());
  return shown;
}

std::string check_interval(const std::string& text) {
  const auto interval = parse_duration(text);
  if (!interval) return interval.error().text();
  return *interval < std::chrono::milliseconds(100) || *interval > std::chrono::hours(1)
             ? "a time of 100ms to 1h is wanted"
             : "";
}

constexpr auto kLiveFooter =
    "Keys: q quits, p pauses, s sorts, t changes between the last seconds and since the start, / "
    "filters, c chooses columns, e and x switch points on and off, d dumps a flight recorder, ? "
    "lists them all.\n"
    "\n"
    "Examples:\n"
    "  sojourn live -p $(pidof nr-softmodem)\n"
    "  sojourn live -p $(pidof nr-softmodem) --filter 'dir == D && rnti == 0x4601'\n"
    "  sojourn live run.sjt                 # while record writes it, or afterwards\n"
    "  sojourn live tcp://127.0.0.1:9000    # what `record --listen` sends\n"
    "  sojourn live -p $(pidof nr-softmodem) --json -n 60 > minute.jsonl\n"
    "\n"
    "A capture of its own ends with the view, and leaves no file. docs/live.md explains the "
    "figures.";

}  // namespace

Action define_live(Arguments& arguments) {
  auto settings = std::make_shared<LiveSettings>();
  arguments.heading("What to look at");
  const Argument trace =
      arguments
          .add_option("trace", settings->path,
                      "A trace: one that is being written is followed, one that is complete is "
                      "played to its end, and so is one that nobody writes any more. Or a stream: "
                      "tcp://HOST:PORT, unix:PATH, "
                      "tls://HOST:PORT, or - for standard "
                      "input, of which lines are printed")
          .type_name("FILE")
          .check(check_trace_name);
  settings->define_choice(arguments);
  settings->script.define(arguments);
  arguments.heading("How to show it");
  const Argument interval =
      arguments.add_option("--interval", settings->interval, "Show the figures this often")
          .type_name("TIME")
          .capture_default_str()
          .check(check_interval);
  settings->define_window(arguments);
  arguments
      .add_option("-n,--count", settings->count, "Print lines, and end after this many intervals")
      .type_name("N")
      .check(whole_number(1));
  arguments.add_flag("--plain", settings->plain,
                     "Print lines on a terminal, too, as into files and pipes");
  arguments.add_flag("--json", settings->json, "Print an object in a line for each interval");
  arguments.add_flag("--readonly", settings->is_readonly,
                     "No key changes anything in the process that is looked at");
  settings->define_causes(arguments);
  settings->define_budget(arguments);
  settings->record.define_capture(arguments);
  arguments.when_parsed([settings, trace, interval] {
    settings->has_interval = interval.is_given();
    if (trace.is_given() == settings->record.processes.given())
      refuse_usage(
          "give either a running process (-p PID, also several, or --cgroup PATH) or a "
          "trace");
  });
  arguments.footer(kLiveFooter);
  return [settings] { return live_view_of(*settings); };
}

}  // namespace sojourn::cli
