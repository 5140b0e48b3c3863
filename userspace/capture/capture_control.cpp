// What a running capture is asked to do: by signals and by `sojourn ctl`.
#include <algorithm>
#include <csignal>
#include <future>
#include <memory>
#include <utility>

#include <fmt/core.h>

#include "userspace/base/clock.h"
#include "userspace/base/words.h"
#include "userspace/capture/capture_state.h"
#include "userspace/capture/control/signals.h"

namespace sojourn::capture {

namespace {

constexpr std::uint64_t kTriggerRest = 1'000'000'000;
constexpr std::uint64_t kWatermarkPeriodNs = 20'000'000;
constexpr std::uint64_t kOnTheWayNs = 1'000'000;  // from the stamp to the ring, at the longest

}  // namespace

void Capture::State::on_signal(int signal) {
  if (signal != SIGUSR1)
    about.ended_by = words_for(signal);
  else if (is_held)
    ask_dump("SIGUSR1");
  else
    flush();
}

void Capture::State::ask_dump(const std::string& why, std::optional<int> client) {
  sink->run_in_order([](std::unique_ptr<Store>& store) { store->pin(); });
  dumps->ask(why, base::monotonic_ns(), events(), client);
}

// What fired meanwhile wants what is held as well.
void Capture::State::unpin_history() {
  if (triggered.stop_at_ns != UINT64_MAX) return;  // and so does the end that is near
  sink->run_in_order([this](std::unique_ptr<Store>& store) {
    if (!watch || !watch->has_fired()) store->unpin();
  });
}

Result<void> Capture::State::catch_up() {
  for (const auto& source : sources) SJ_CHECK(source->settle_so_far());
  for (bool first = true, behind = true; behind;) {
    SJ_CHECK(poll_with_room());
    if (std::exchange(first, false))  // rings that came into use just now have been seen
      for (const auto& source : sources) source->mark();
    behind = !sink->failed() && !std::ranges::all_of(sources, &Source::is_past_mark);
  }
  flush();
  SJ_TRY(losses, this->losses());
  sink->push(base::read_clock_pair());
  sink->push(losses);
  return {};
}

Result<void> Capture::State::begin_dump() {
  model::Capture now = about;
  now.close_ns = base::monotonic_ns();
  SJ_CHECK(catch_up());
  std::vector<DescribesLate::Description> descriptions;
  for (const auto& source : sources)
    if (const auto* const late = dynamic_cast<const DescribesLate*>(source.get()))
      descriptions.push_back(late->description());
  // What is under way is lost to this dump, and no loss of the capture as long as it may end.
  SJ_TRY(losses, this->losses());
  model::Ledger with_under_way = losses;
  for (RingEngine* const engine : rings) engine->add_under_way(now.close_ns, with_under_way);
  sink->push(std::move(with_under_way));
  dumps->begin(*sink, std::move(now), std::move(descriptions));
  sink->push(std::move(losses));
  unpin_history();
  return {};
}

void Capture::State::note_dump(const Dumps::Done& done) {
  if (!done.dumped) return;
  ++dumps_done;
  last_file = {.path = done.path, .bytes = done.dumped->bytes};
}

Result<void> Capture::State::poll_dumps(const Listener& listener) {
  if (!dumps) return {};
  if (is_open() && dumps->is_due(base::monotonic_ns(), events())) SJ_CHECK(begin_dump());
  for (const Dumps::Done& done : dumps->take_done(*sink)) {
    const std::string words =
        done.dumped ? fmt::format("{}: {} ({})", done.path,
                                  held_words(done.dumped->events, done.dumped->span), done.why)
                    : fmt::format("not dumped: {}", done.dumped.error().text());
    note_dump(done);
    listener.say(words);
    for (const int client : done.clients) control->answer(client, done.dumped.has_value(), words);
  }
  return {};
}

// ---- triggers ----

Result<void> Capture::State::poll_triggers(const Listener& listener) {
  if (!watch || !is_open()) return {};
  SJ_CHECK(poll_start());
  if (watch->wants_watermark()) move_watermark(listener);
  const std::vector<Fired> fired = watch->take_fired();
  for (const Fired& one : fired) SJ_CHECK(fire(one.trigger, listener));
  if (!fired.empty() && !dumps->is_asked()) unpin_history();
  if (std::exchange(triggered.losses_seen, lost_so_far) == lost_so_far) return {};
  for (std::size_t index = 0; index < options.triggers.size(); ++index)
    if (options.triggers[index].when == Trigger::When::kLoss) SJ_CHECK(fire(index, listener));
  return {};
}

// Everything before it is in the sink: journeys are rebuilt up to there. When the sink is behind,
// looking at journeys is what it can do without.
void Capture::State::move_watermark(const Listener& listener) {
  const std::uint64_t now_ns = base::monotonic_ns();
  if (triggered.watermark.marked_ns == 0) {
    if (now_ns < triggered.watermark.next_ns) return;
    watch->set_hurry(!sink->has_room());
    for (const auto& source : sources) source->mark();
    triggered.watermark.marked_ns = now_ns;
    return;
  }
  if (!std::ranges::all_of(sources, &Source::is_past_mark)) return;
  flush();
  const std::uint64_t at_ns = std::exchange(triggered.watermark.marked_ns, 0) - kOnTheWayNs;
  sink->run_in_order([this, at_ns](std::unique_ptr<Store>& store) {
    watch->advance(at_ns);
    if (watch->has_fired()) store->pin();
  });
  triggered.watermark.next_ns = now_ns + kWatermarkPeriodNs;
  const std::uint64_t left_out = watch->left_out();
  if (now_ns < triggered.watermark.next_word_ns || left_out == triggered.watermark.told) return;
  listener.say(
      fmt::format("triggers on journeys: {} more events were not looked at: they came late, or "
                  "there was no time",
                  left_out - std::exchange(triggered.watermark.told, left_out)));
  triggered.watermark.next_word_ns = now_ns + kTriggerRest;
}

// A condition that holds for every packet must not act on every packet.
Result<void> Capture::State::fire(std::size_t trigger, const Listener& listener) {
  const std::uint64_t now = base::monotonic_ns();
  if (now < triggered.rests_until_ns[trigger]) return {};
  triggered.rests_until_ns[trigger] = now + kTriggerRest;
  return act(options.triggers[trigger], listener);
}

Result<void> Capture::State::act(const Trigger& trigger, const Listener& listener) {
  switch (trigger.action) {
    case Trigger::Action::kDump:
      ask_dump_by_trigger(trigger, listener);
      return {};
    case Trigger::Action::kStart:
      if (!is_held) return {};
      // Whoever waits for a dump gets what there is of it.
      if (dumps->is_asked()) SJ_CHECK(begin_dump());
      listener.say(fmt::format("recording to {} ({})", options.output, trigger.words));
      start_file();
      return {};
    case Trigger::Action::kStop:
      if (triggered.stop_at_ns != UINT64_MAX) return {};
      listener.say(fmt::format("stopping ({})", trigger.words));
      triggered.stop_at_ns =
          base::monotonic_ns() + static_cast<std::uint64_t>(options.aftermath.span.count());
      triggered.stop_at_events = events() + options.aftermath.events;
      return {};
    case Trigger::Action::kEnable:
    case Trigger::Action::kDisable:
      switch_by_trigger(trigger, listener);
      return {};
  }
  return {};
}

void Capture::State::ask_dump_by_trigger(const Trigger& trigger, const Listener& listener) {
  if (!is_held || dumps->is_asked() || triggered.dumps > options.most_dumps) return;
  if (++triggered.dumps <= options.most_dumps)
    ask_dump(trigger.words);
  else
    listener.say(fmt::format("triggers have caused {}: no more of them (--dumps)",
                             base::counted(options.most_dumps, "dump")));
}

// What is held and what comes go to one file from now on.
void Capture::State::start_file() {
  triggered.starting = std::make_shared<Start>();
  sink->run_in_order([start = triggered.starting, path = options.output,
                      about = about](std::unique_ptr<Store>& store) mutable {
    auto writer = dynamic_cast<const FlightStore&>(*store).begin_file(path, about);
    const std::scoped_lock lock(start->mutex);
    if (!writer) {
      start->about = std::unexpected(std::move(writer).error());
      return;
    }
    store = std::make_unique<FileStore>(std::move(*writer));
    start->about = std::move(about);
  });
  is_held = false;
}

// So that even a capture that ends at once says where its file begins.
Result<void> Capture::State::wait_for_start() {
  if (!triggered.starting) return {};
  auto reached = std::make_shared<std::promise<void>>();
  const auto future = reached->get_future();
  // A sink that failed throws the job away, and the promise with it.
  sink->run_in_order([reached = std::move(reached)](auto&) { reached->set_value(); });
  future.wait();
  return poll_start();
}

// The file's beginning is the capture's from then on.
Result<void> Capture::State::poll_start() {
  if (!triggered.starting) return {};
  const std::scoped_lock lock(triggered.starting->mutex);
  if (!triggered.starting->about) return {};
  SJ_TRY(begun, *std::exchange(triggered.starting->about, std::nullopt));
  about.open_ns = begun.open_ns;
  about.stream_first = begun.stream_first;
  return {};
}

// ---- ctl ----

std::string Capture::State::status() const {
  const std::uint64_t now = base::monotonic_ns();
  return fmt::format("{}: {:.1f} s, {} events, {} lost, {} bytes {}, {} dumps", options.output,
                     is_open() ? static_cast<double>(now - about.open_ns) / 1e9 : 0.0, events(),
                     lost_so_far, sink->bytes(), is_held ? "held" : "written", dumps_done);
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
    SJ_CHECK(open_gate());
    answer(true, "started");
  } else if (request.words == "stop") {
    about.ended_by = "sojourn ctl";
    answer(true, "stopping");
  } else if (request.words == "flush") {
    SJ_CHECK(catch_up());
    answer(true, "flushed");
  } else if (request.words == "dump" && !is_held) {
    answer(false, options.flight ? "nothing is held any more: all is written to the file"
                                 : "nothing is held to be dumped: the capture was started without "
                                   "--flight");
  } else if (request.words == "dump" && !is_open()) {
    answer(false, "it was not started yet");
  } else if (request.words == "dump") {
    ask_dump("sojourn ctl", request.client);
  } else {
    answer(false, fmt::format("unknown request \"{}\"", request.words));
  }
  return {};
}

// A flight recorder's end is its last dump, unless triggers decide what is worth one.
Result<WrittenFile> Capture::State::end_file() {
  if (dumps) dumps->complete_all(*sink);
  if (!is_held) {
    SJ_CHECK(sink->finish());
    return WrittenFile{.path = options.output, .bytes = sink->bytes()};
  }
  const bool is_wanted = std::ranges::any_of(options.triggers, [this](const Trigger& trigger) {
    return trigger.when == Trigger::When::kExit && about.ended_by == "target exit";
  });
  const bool triggers_decide = std::ranges::any_of(options.triggers, [](const Trigger& trigger) {
    return trigger.action == Trigger::Action::kDump || trigger.action == Trigger::Action::kStart;
  });
  if (triggers_decide && !is_wanted && !dumps->is_asked()) {
    SJ_CHECK(sink->finish());
    for (const Dumps::Done& done : dumps->take_done(*sink)) note_dump(done);
    return last_file;
  }
  Result<Dumped> dumped;
  sink->run_in_order([&](std::unique_ptr<Store>& store) {
    dumped = dynamic_cast<const FlightStore&>(*store).dump(options.output, about);
  });
  SJ_CHECK(sink->finish());
  if (!dumped) return std::unexpected(std::move(dumped).error());
  return WrittenFile{.path = options.output, .bytes = dumped->bytes};
}

}  // namespace sojourn::capture
