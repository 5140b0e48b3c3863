#include "userspace/cli/live/view/live_lines.h"

#include <cstdio>

#include <nlohmann/json.hpp>
#include <poll.h>

#include "analysis/present/live/live_json.h"
#include "analysis/present/live/live_text.h"
#include "userspace/base/fail_errno.h"
#include "userspace/cli/print_data.h"
#include "userspace/cli/tell.h"
#include "userspace/cli/terminal.h"

namespace sojourn::cli {

namespace {

constexpr int kLookMs = 50;

// True: a signal came.
bool wait_for_news(const LiveSession& session, int signals, int timeout_ms) {
  pollfd watched[] = {{.fd = signals, .events = POLLIN, .revents = 0},
                      {.fd = session.messages(), .events = POLLIN, .revents = 0}};
  return poll(watched, 2, timeout_ms) > 0 && watched[0].revents != 0;
}

Result<void> print_snapshot(const LiveSettings& settings, const live::Snapshot& snapshot) {
  SJ_CHECK(print_data(settings.json
                          ? present::json_line(present::live_json(snapshot))
                          : present::live_text(snapshot, snapshot.has_ended, line_width())));
  // A program that reads the pipe gets each line at once.
  if (std::fflush(stdout) != 0) return fail_errno("write standard output");
  return {};
}

}  // namespace

void pass_messages_on(LiveSession& session) {
  for (const std::string& line : session.take_messages())
    if (line != session.failure()) tell("{}\n", line);
}

Result<bool> wait_for_capture(LiveSession& session, int signals) {
  while (!session.has_begun()) {
    SJ_TRY(came, session.poll([] { return true; }));
    pass_messages_on(session);
    if (wait_for_news(session, signals, came ? 0 : kLookMs)) return false;
  }
  pass_messages_on(session);
  return true;
}

Result<void> run_lines(const LiveSettings& settings, LiveSession& session, int signals) {
  std::size_t shown = 0;
  Result<void> printed;
  // A text about a complete trace shows its end alone, unless the intervals were asked for.
  const bool shows_intervals =
      settings.json || !session.is_whole() || settings.count != 0 || settings.has_interval;
  const auto tick = [&] {
    if (!shows_intervals) return true;
    printed = print_snapshot(settings, session.snapshot());
    ++shown;
    return printed && (settings.count == 0 || shown < settings.count);
  };
  while (!session.has_ended()) {
    SJ_TRY(came, session.poll(tick));
    SJ_CHECK(printed);
    pass_messages_on(session);
    if (settings.count != 0 && shown >= settings.count) return {};
    if (wait_for_news(session, signals, came ? 0 : kLookMs)) break;
  }
  return session.has_ended() ? print_snapshot(settings, session.snapshot()) : Result<void>{};
}

}  // namespace sojourn::cli
