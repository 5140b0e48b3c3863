// What a running capture is asked to do: by signals and by `sojourn ctl`.
#include <csignal>
#include <cstring>
#include <future>
#include <utility>

#include <fmt/core.h>

#include "userspace/base/clock.h"
#include "userspace/capture/capture_state.h"

namespace sojourn::capture {

namespace {

std::string words_for(int signal) {
  const char* short_name = sigabbrev_np(signal);
  return signal == SIGINT ? "interrupt"
                          : fmt::format("SIG{}", short_name != nullptr ? short_name : "?");
}

std::string count_of(const Dumped& dumped) {
  return fmt::format("{} events, the last {:.1f} s", dumped.events,
                     std::chrono::duration<double>(dumped.span).count());
}

}  // namespace

void Capture::State::on_signal(int signal) {
  if (signal != SIGUSR1)
    about.ended_by = words_for(signal);
  else if (dumps)
    ask_dump("SIGUSR1");
  else
    flush();
}

void Capture::State::ask_dump(const std::string& why, std::optional<int> client) {
  dumps->ask(why, base::monotonic_ns(), events(), client);
}

// Everything that began before now is in the sink afterwards.
Result<void> Capture::State::catch_up() {
  for (const auto& source : sources) SJ_CHECK(source->settle());
  SJ_CHECK(drain_rest());
  SJ_TRY(losses, this->losses());
  sink->push(base::read_clock_pair());
  sink->push(losses);
  return {};
}

Result<void> Capture::State::look_after_dumps(const Listener& listener) {
  if (!dumps) return {};
  if (is_open() && dumps->is_due(base::monotonic_ns(), events())) {
    model::Capture now = about;
    now.close_ns = base::monotonic_ns();
    SJ_CHECK(catch_up());
    dumps->begin(*sink, std::move(now));
  }
  for (const Dumps::Done& done : dumps->take_done()) {
    const std::string words =
        done.dumped ? fmt::format("{}: {} ({})", done.path, count_of(*done.dumped), done.why)
                    : fmt::format("not dumped: {}", done.dumped.error().text());
    if (done.dumped) {
      ++dumps_done;
      last_path = done.path;
    }
    listener.say(words);
    for (const int client : done.clients) control->answer(client, done.dumped.has_value(), words);
  }
  return {};
}

std::string Capture::State::status() const {
  const std::uint64_t now = base::monotonic_ns();
  const auto lost = losses();
  std::uint64_t lost_count = 0;
  if (lost)
    for (const model::LedgerEntry& entry : *lost)
      if (entry.cause != model::LossCause::kFiltered) lost_count += entry.count;
  return fmt::format("{}: {:.1f} s, {} events, {} lost, {} bytes {}, {} dumps", options.output,
                     is_open() ? static_cast<double>(now - about.open_ns) / 1e9 : 0.0, events(),
                     lost_count, sink->bytes(), options.flight ? "held" : "written", dumps_done);
}

Result<void> Capture::State::obey(const ControlSocket::Request& request) {
  const auto answer = [&](bool worked, const std::string& text) {
    control->answer(request.client, worked, text);
  };
  if (request.words == "status") {
    answer(true, status());
  } else if (request.words == "start") {
    if (is_open()) {
      answer(false, "it is running already");
      return {};
    }
    open_gate();
    answer(true, "started");
  } else if (request.words == "stop") {
    about.ended_by = "sojourn ctl";
    answer(true, "stopping");
  } else if (request.words == "flush") {
    SJ_CHECK(catch_up());
    answer(true, "flushed");
  } else if (request.words == "dump" && !dumps) {
    answer(false, "nothing is held to be dumped: the capture was started without --flight");
  } else if (request.words == "dump" && !is_open()) {
    answer(false, "it was not started yet");
  } else if (request.words == "dump") {
    ask_dump("sojourn ctl", request.client);
  } else {
    answer(false, fmt::format("unknown request \"{}\"", request.words));
  }
  return {};
}

// A flight recorder's end is its last dump.
Result<std::string> Capture::State::end_file() {
  if (!dumps) {
    SJ_CHECK(sink->finish());
    return options.output;
  }
  Result<void> dumped;
  sink->run_in_order([&](std::unique_ptr<Store>& store) {
    const auto last = dynamic_cast<const FlightStore&>(*store).dump(options.output, about);
    if (!last) dumped = std::unexpected(last.error());
  });
  SJ_CHECK(sink->finish());
  SJ_CHECK(dumped);
  return options.output;
}

}  // namespace sojourn::capture
