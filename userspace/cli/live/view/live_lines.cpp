#include "userspace/cli/live/view/live_lines.h"

#include <cerrno>
#include <chrono>
#include <cstdio>
#include <string>

#include <nlohmann/json.hpp>
#include <poll.h>

#include "analysis/present/live/live_json.h"
#include "analysis/present/live/live_text.h"
#include "userspace/base/fail_errno.h"
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

// False: nobody reads the pipe any more (`| head`), which is no error.
Result<bool> print_snapshot(const LiveSettings& settings, const live::Snapshot& snapshot) {
  const std::string text = settings.json
                               ? present::json_line(present::live_json(snapshot))
                               : present::live_text(snapshot, snapshot.has_ended, line_width());
  // A program that reads the pipe gets each line at once.
  if (std::fwrite(text.data(), 1, text.size(), stdout) == text.size() && std::fflush(stdout) == 0)
    return true;
  if (errno != EPIPE) return fail_errno("write standard output");
  // The stream's rest goes to /dev/null: it would be an error at the end of the program.
  if (std::freopen("/dev/null", "w", stdout) == nullptr) return fail_errno("open /dev/null");
  return false;
}

// Says what is waited for when that takes a while. Nothing else would be printed then.
class AwaitedNotice {
 public:
  explicit AwaitedNotice(const LiveSession& session) : session_(session) {}

  void look() {
    if (has_told_ || Clock::now() - since_ < kLongEnough) return;
    has_told_ = true;
    if (const std::string awaited = session_.awaited(); !awaited.empty())
      tell("waiting for {}\n", awaited);
  }

 private:
  using Clock = std::chrono::steady_clock;
  static constexpr std::chrono::seconds kLongEnough{1};

  const LiveSession& session_;
  const Clock::time_point since_ = Clock::now();
  bool has_told_ = false;
};

}  // namespace

void pass_messages_on(LiveSession& session) {
  for (const std::string& line : session.take_messages())
    if (line != session.failure()) tell("{}\n", line);
}

Result<bool> wait_for_capture(LiveSession& session, int signals) {
  AwaitedNotice waiting(session);
  while (!session.has_begun() && !session.has_ended()) {
    SJ_TRY(came, session.poll([] { return true; }));
    pass_messages_on(session);
    waiting.look();
    if (wait_for_news(session, signals, came ? 0 : kLookMs)) return false;
  }
  pass_messages_on(session);
  SJ_CHECK(session.check_events());
  return true;
}

Result<void> run_lines(const LiveSettings& settings, LiveSession& session, int signals) {
  std::size_t shown = 0;
  Result<bool> printed = true;
  // A text about a complete trace shows its end alone, unless the intervals were asked for.
  const bool shows_intervals =
      settings.json || !session.is_whole() || settings.count != 0 || settings.has_interval;
  const auto tick = [&] {
    if (!shows_intervals) return true;
    const live::Snapshot snapshot = session.snapshot();
    if (snapshot.has_ended) return true;  // the last one is printed when all has been closed
    printed = print_snapshot(settings, snapshot);
    ++shown;
    return printed && *printed && (settings.count == 0 || shown < settings.count);
  };
  AwaitedNotice waiting(session);
  while (!session.has_ended()) {
    SJ_TRY(came, session.poll(tick));
    SJ_CHECK(printed);
    if (!*printed) return {};
    pass_messages_on(session);
    if (shown == 0) waiting.look();
    if (settings.count != 0 && shown >= settings.count) return {};
    if (wait_for_news(session, signals, came ? 0 : kLookMs)) break;
  }
  if (!session.has_ended()) return {};
  SJ_CHECK(session.check_events());
  if (const std::string words = session.not_finished(); !words.empty())
    tell("{}: this is what there is\n", words);
  SJ_CHECK(print_snapshot(settings, session.snapshot()));
  return {};
}

}  // namespace sojourn::cli
