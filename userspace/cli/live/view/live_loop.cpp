#include "userspace/cli/live/view/live_loop.h"

#include <chrono>
#include <csignal>
#include <string>
#include <utility>

#include <poll.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include "analysis/present/live/live_screen.h"
#include "analysis/present/live/live_words.h"
#include "userspace/cli/live/view/live_keys.h"

namespace sojourn::cli {

namespace {

using Clock = std::chrono::steady_clock;

constexpr std::chrono::milliseconds kPollInterval(50);
// While a long trace is played.
constexpr std::chrono::milliseconds kBetweenDraws(200);

class ScreenLoop {
 public:
  ScreenLoop(const LiveSettings& settings, LiveSession& session,
             live_view::TerminalScreen& terminal)
      : session_(session), terminal_(terminal) {
    screen_.is_readonly = settings.is_readonly;
    screen_.glyphs = terminal.glyphs();
    if (session.is_whole()) screen_.since_start = true;
  }

  Result<void> run(int signals) {
    shown_ = session_.snapshot();
    draw();
    while (!is_over_) {
      SJ_TRY(came, look());
      if (is_over_) break;
      if (is_stale_) draw();
      SJ_CHECK(wait(signals, came ? std::chrono::milliseconds(0) : kPollInterval));
    }
    return {};
  }

 private:
  // Takes what has come into the figures.
  Result<bool> look() {
    const auto tick = [this] {
      has_news_ = true;
      if (Clock::now() - drawn_ >= kBetweenDraws) take_figures();
      if (is_stale_) draw();
      return true;
    };
    const bool had_ended = session_.has_ended();
    SJ_TRY(came, session_.poll(tick));
    if (session_.has_ended() != had_ended) has_news_ = true;
    if (has_news_) take_figures();
    for (const std::string& line : session_.take_messages()) say(line, false);
    return came;
  }

  void take_figures() {
    has_news_ = false;
    is_stale_ = true;
    if (screen_.paused.empty())
      shown_ = session_.snapshot();
    else
      tell_pause();
  }

  // Time goes on above what stands still.
  void tell_pause() {
    screen_.paused = "paused at " + present::elapsed_words(shown_) + ", now " +
                     present::elapsed_words(session_.snapshot());
  }

  void draw() {
    screen_.width = terminal_.width();
    screen_.height = terminal_.height();
    terminal_.draw(present::screen_lines(shown_, screen_), screen_.question.has_value());
    drawn_ = Clock::now();
    is_stale_ = false;
  }

  void say(const std::string& words, bool is_error) {
    screen_.message = words.substr(0, words.find('\n'));
    screen_.is_error = is_error;
    is_stale_ = true;
  }
  void say(const Result<std::string>& done) {
    say(done ? *done : done.error().text(), !done.has_value());
  }

  Result<void> wait(int signals, std::chrono::milliseconds timeout) {
    pollfd watched[] = {{.fd = signals, .events = POLLIN, .revents = 0},
                        {.fd = STDIN_FILENO, .events = POLLIN, .revents = 0},
                        {.fd = session_.messages(), .events = POLLIN, .revents = 0}};
    if (poll(watched, 3, static_cast<int>(timeout.count())) <= 0) return {};
    if (watched[0].revents != 0) obey_signal(signals);
    if ((watched[1].revents & POLLIN) != 0) press_keys();
    // The terminal is gone.
    if ((watched[1].revents & (POLLHUP | POLLERR)) != 0) is_over_ = true;
    return {};
  }

  void obey_signal(int signals) {
    signalfd_siginfo info{};
    if (read(signals, &info, sizeof(info)) != sizeof(info)) return;
    switch (static_cast<int>(info.ssi_signo)) {
      case SIGWINCH:
        terminal_.take_size();
        break;
      case SIGTSTP:
        terminal_.suspend();
        break;
      case SIGCONT:
        terminal_.resume();
        break;
      default:
        is_over_ = true;
        return;
    }
    is_stale_ = true;
  }

  void press_keys() {
    while (const auto key = terminal_.next_key()) {
      is_stale_ = true;
      fulfil(keys_.press(*key, shown_.places.size(), screen_));
    }
  }

  void fulfil(LiveKeys::Wish wish) {
    switch (wish) {
      case LiveKeys::Wish::kNothing:
        break;
      case LiveKeys::Wish::kQuit:
        is_over_ = true;
        break;
      case LiveKeys::Wish::kPause:
        if (!screen_.paused.empty()) {
          screen_.paused.clear();
          shown_ = session_.snapshot();
        } else {
          tell_pause();
        }
        break;
      case LiveKeys::Wish::kRedraw:
        terminal_.redraw();
        break;
      case LiveKeys::Wish::kFilter:
        choose();
        break;
      case LiveKeys::Wish::kEnable:
      case LiveKeys::Wish::kDisable:
        say(session_.switch_points(keys_.answer(), wish == LiveKeys::Wish::kEnable));
        break;
      case LiveKeys::Wish::kDump:
        say(session_.dump());
        break;
    }
  }

  void choose() {
    if (const auto chosen = session_.choose(keys_.answer()); !chosen) {
      say(chosen.error().text(), true);
      return;
    }
    has_news_ = true;
    shown_ = session_.snapshot();
  }

  LiveSession& session_;
  live_view::TerminalScreen& terminal_;
  present::LiveScreen screen_;
  LiveKeys keys_;
  live::Snapshot shown_;
  bool is_over_ = false;
  bool has_news_ = false;  // figures that are not in shown_
  bool is_stale_ = true;   // the screen
  Clock::time_point drawn_;
};

}  // namespace

Result<void> run_screen(const LiveSettings& settings, LiveSession& session,
                        live_view::TerminalScreen& terminal, int signals) {
  return ScreenLoop(settings, session, terminal).run(signals);
}

}  // namespace sojourn::cli
