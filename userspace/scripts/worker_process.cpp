#include "userspace/scripts/worker_process.h"

#include <algorithm>
#include <csignal>
#include <cstring>
#include <string>

#include <sys/time.h>
#include <unistd.h>

#include "userspace/scripts/sandbox.h"
#include "userspace/scripts/script_engine.h"

namespace sojourn::scripts {

namespace {

// Memory beside the interpreter's own: stacks, and this process's copies of the script's lists.
constexpr std::uint64_t kOtherBytes = std::uint64_t{256} << 20U;
constexpr unsigned kTicksEachSecond = 10;

// The state for the timer's handler. It is global, because a handler gets no arguments, and this
// process does nothing else.
struct Watch {
  ScriptEngine* engine = nullptr;
  Exchange* exchange = nullptr;
  std::uint32_t turn = 0;
  unsigned ticks = 0;  // of processor time, in this turn
};
Watch watch;

void on_tick(int /*signal*/) {
  if (watch.exchange->turn != watch.turn) {
    watch.turn = watch.exchange->turn;
    watch.ticks = 0;
    return;
  }
  if (++watch.ticks == kSeconds * kTicksEachSecond) watch.engine->stop();
}

// Counts the processor time of this process: it does not tick while the process waits.
void start_timer(ScriptEngine& engine, Exchange& exchange) {
  watch = {.engine = &engine, .exchange = &exchange};
  struct sigaction action{};
  action.sa_handler = on_tick;
  action.sa_flags = SA_RESTART;
  sigaction(SIGPROF, &action, nullptr);
  sigset_t ticks;
  sigemptyset(&ticks);
  sigaddset(&ticks, SIGPROF);
  sigprocmask(SIG_UNBLOCK, &ticks, nullptr);
  const timeval every{.tv_sec = 0, .tv_usec = 1'000'000 / kTicksEachSecond};
  const itimerval timer{.it_interval = every, .it_value = every};
  setitimer(ITIMER_PROF, &timer, nullptr);
}

// Reports an error. The first one is kept.
Answer failed(Exchange& exchange, const Error& error) {
  const std::string& text = error.text();
  const std::size_t bytes = std::min(text.size(), sizeof(exchange.error) - 1);
  std::memcpy(exchange.error, text.data(), bytes);
  exchange.error[bytes] = '\0';
  return Answer::kFailed;
}

Answer answer_events(Exchange& exchange, const Result<bool>& is_done) {
  if (!is_done) return failed(exchange, is_done.error());
  return *is_done ? Answer::kDone : Answer::kPaused;
}

Answer answer(ScriptEngine& engine, Exchange& exchange, const ScriptSource& source, Ask ask) {
  ++exchange.turn;
  const auto plain = [&](const Result<void>& result) {
    return result ? Answer::kDone : failed(exchange, result.error());
  };
  switch (ask) {
    case Ask::kLoad:
      return plain(engine.load(source, kScriptBytes));
    case Ask::kEvents:
      return answer_events(exchange, engine.begin_events());
    case Ask::kContinue:
      return answer_events(exchange, engine.go_on());
    case Ask::kJourney:
      return plain(engine.judge_journey());
  }
  return failed(exchange, Error("asked for something unknown"));
}

}  // namespace

void run_worker(int connection, Exchange& exchange, const ScriptSource& source,
                const model::Schema& schema, std::uint64_t open_ns) {
  // Ctrl-C ends the parent, and the parent's end ends this process.
  for (const int ignored : {SIGINT, SIGHUP, SIGQUIT}) signal(ignored, SIG_IGN);
  for (const int plain : {SIGTERM, SIGSEGV, SIGBUS, SIGILL, SIGABRT, SIGPIPE, SIGTSTP})
    signal(plain, SIG_DFL);
  ScriptEngine engine(exchange, schema, open_ns);
  start_timer(engine, exchange);
  const auto walls = enter_sandbox(connection, kScriptBytes + kOtherBytes);
  Ask ask{};
  while (read(connection, &ask, sizeof(ask)) == sizeof(ask)) {
    const Answer said =
        walls ? answer(engine, exchange, source, ask) : failed(exchange, walls.error());
    if (write(connection, &said, sizeof(said)) != sizeof(said)) break;
  }
  _exit(0);
}

}  // namespace sojourn::scripts
