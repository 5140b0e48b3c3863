#include "userspace/capture/flight_recorder.h"

#include <algorithm>
#include <future>
#include <utility>

#include <fmt/core.h>

#include "userspace/base/clock.h"
#include "userspace/base/count_text.h"

namespace sojourn::capture {

namespace {

constexpr std::uint64_t kTriggerRestNs = 1'000'000'000;
constexpr std::uint64_t kWatermarkPeriodNs = 20'000'000;
constexpr std::uint64_t kOnTheWayNs = 1'000'000;  // from the stamp to the ring, at the longest

}  // namespace

FlightRecorder::FlightRecorder(const Options& options, TriggerWatch& watch, Sink& sink,
                               SourceSet& sources, EventPump& pump, CaptureRecord& record,
                               PointSwitches& switches, const ProgressReporter& progress,
                               Answer answer)
    : options_(&options),
      watch_(&watch),
      sink_(&sink),
      sources_(&sources),
      pump_(&pump),
      record_(&record),
      switches_(&switches),
      progress_(&progress),
      answer_(std::move(answer)),
      dumps_(options.output, options.aftermath),
      rests_until_ns_(options.triggers.size()) {}

// A command that is not started yet has no points to check against.
Result<void> FlightRecorder::check_triggers(const model::Schema& schema) {
  for (const Trigger& trigger : options_->triggers)
    if (!options_->is_command && switches_points(trigger))
      SJ_CHECK(switches_->check(trigger, schema));
  return TriggerWatch::check(options_->triggers, schema);
}

Result<void> FlightRecorder::tick(const Listener& listener) {
  if (record_->is_open()) SJ_CHECK(poll_triggers(listener));
  return poll_dumps(listener);
}

// ---- dumps ----

void FlightRecorder::ask_dump(const std::string& why, std::optional<int> client) {
  sink_->run_in_order([](std::unique_ptr<ItemStore>& store) { store->pin(); });
  dumps_.ask(why, base::monotonic_ns(), pump_->events(), client);
}

// Keeps the history pinned while a trigger that fired meanwhile needs it as well.
void FlightRecorder::unpin_history() {
  if (stop_at_ns_ != UINT64_MAX) return;  // the end is near, and needs it as well
  sink_->run_in_order([watch = watch_](std::unique_ptr<ItemStore>& store) {
    if (!watch->has_fired()) store->unpin();
  });
}

Result<void> FlightRecorder::begin_dump() {
  model::Capture now = record_->about();
  now.close_ns = base::monotonic_ns();
  SJ_CHECK(pump_->catch_up());
  // Hits under way are lost to this dump, but not to the capture, as they may still end.
  SJ_TRY(losses, pump_->losses());
  model::Ledger with_under_way = losses;
  for (RingEngine* const engine : sources_->rings())
    engine->add_under_way(now.close_ns, with_under_way);
  sink_->push(std::move(with_under_way));
  dumps_.begin(*sink_, std::move(now), sources_->descriptions());
  sink_->push(std::move(losses));
  unpin_history();
  return {};
}

void FlightRecorder::note_dump(const Dumps::Done& done) {
  if (!done.dumped) return;
  ++dumps_done_;
  last_file_ = {.path = done.path, .bytes = done.dumped->bytes};
}

Result<void> FlightRecorder::poll_dumps(const Listener& listener) {
  if (record_->is_open() && dumps_.is_due(base::monotonic_ns(), pump_->events()))
    SJ_CHECK(begin_dump());
  for (const Dumps::Done& done : dumps_.take_done(*sink_)) {
    const std::string words =
        done.dumped ? fmt::format("{}: {} ({})", done.path,
                                  dump_size_text(done.dumped->events, done.dumped->span), done.why)
                    : fmt::format("not dumped: {}", done.dumped.error().text());
    note_dump(done);
    listener.say(words);
    for (const int client : done.clients) answer_(client, done.dumped.has_value(), words);
  }
  return {};
}

// ---- triggers ----

Result<void> FlightRecorder::poll_triggers(const Listener& listener) {
  SJ_CHECK(poll_file_start());
  if (watch_->wants_watermark()) move_watermark(listener);
  const std::vector<Fired> fired = watch_->take_fired();
  for (const Fired& one : fired) SJ_CHECK(fire(one.trigger, listener));
  if (!fired.empty() && !dumps_.is_asked()) unpin_history();
  if (std::exchange(losses_seen_, progress_->lost()) == progress_->lost()) return {};
  for (std::size_t index = 0; index < options_->triggers.size(); ++index)
    if (options_->triggers[index].when == Trigger::When::kLoss) SJ_CHECK(fire(index, listener));
  return {};
}

// Journeys are rebuilt up to the watermark, as everything before it is in the sink. When the sink
// is behind, conditions on journeys are the first that it stops testing.
void FlightRecorder::move_watermark(const Listener& listener) {
  const std::uint64_t now_ns = base::monotonic_ns();
  if (watermark_.marked_ns == 0) {
    if (now_ns < watermark_.next_ns) return;
    watch_->set_hurry(!sink_->has_room());
    sources_->mark();
    watermark_.marked_ns = now_ns;
    return;
  }
  if (!sources_->are_past_mark()) return;
  pump_->flush();
  const std::uint64_t at_ns = std::exchange(watermark_.marked_ns, 0) - kOnTheWayNs;
  sink_->run_in_order([watch = watch_, at_ns](std::unique_ptr<ItemStore>& store) {
    watch->advance(at_ns);
    if (watch->has_fired()) store->pin();
  });
  watermark_.next_ns = now_ns + kWatermarkPeriodNs;
  const std::uint64_t left_out = watch_->left_out();
  if (now_ns < watermark_.next_word_ns || left_out == watermark_.reported) return;
  listener.say(
      fmt::format("triggers on journeys: {} more events were not looked at: they came late, or "
                  "there was no time",
                  left_out - std::exchange(watermark_.reported, left_out)));
  watermark_.next_word_ns = now_ns + kTriggerRestNs;
}

// A condition that holds for every packet must not act on every packet.
Result<void> FlightRecorder::fire(std::size_t trigger, const Listener& listener) {
  const std::uint64_t now_ns = base::monotonic_ns();
  if (now_ns < rests_until_ns_[trigger]) return {};
  rests_until_ns_[trigger] = now_ns + kTriggerRestNs;
  return act(options_->triggers[trigger], listener);
}

Result<void> FlightRecorder::act(const Trigger& trigger, const Listener& listener) {
  switch (trigger.action) {
    case Trigger::Action::kDump:
      ask_dump_by_trigger(trigger, listener);
      return {};
    case Trigger::Action::kStart:
      if (!is_holding_) return {};
      // Clients that wait for a dump get it now, however little has followed.
      if (dumps_.is_asked()) SJ_CHECK(begin_dump());
      listener.say(fmt::format("recording to {} ({})", options_->output, trigger.words));
      start_file();
      return {};
    case Trigger::Action::kStop:
      if (stop_at_ns_ != UINT64_MAX) return {};
      listener.say(fmt::format("stopping ({})", trigger.words));
      stop_at_ns_ =
          base::monotonic_ns() + static_cast<std::uint64_t>(options_->aftermath.span.count());
      stop_at_events_ = pump_->events() + options_->aftermath.events;
      return {};
    case Trigger::Action::kEnable:
    case Trigger::Action::kDisable:
      switches_->act(trigger, listener);
      return {};
  }
  return {};
}

void FlightRecorder::ask_dump_by_trigger(const Trigger& trigger, const Listener& listener) {
  if (!is_holding_ || dumps_.is_asked() || dumps_by_triggers_ > options_->max_dumps) return;
  if (++dumps_by_triggers_ <= options_->max_dumps)
    ask_dump(trigger.words);
  else
    listener.say(fmt::format("triggers have caused {}: no more of them (--dumps)",
                             base::counted(options_->max_dumps, "dump")));
}

bool FlightRecorder::is_stop_due(std::uint64_t now_ns) const {
  return now_ns >= stop_at_ns_ && pump_->events() >= stop_at_events_;
}

// ---- one file, from a trigger on ----

// Writes the held events and all later ones to one file from now on.
void FlightRecorder::start_file() {
  file_start_ = std::make_shared<FileStart>();
  sink_->run_in_order([start = file_start_, path = options_->output,
                       about = record_->about()](std::unique_ptr<ItemStore>& store) mutable {
    auto writer = store->begin_file(path, about);
    const std::scoped_lock lock(start->mutex);
    if (!writer) {
      start->about = std::unexpected(std::move(writer).error());
      return;
    }
    store = std::make_unique<FileStore>(std::move(*writer));
    start->about = std::move(about);
  });
  is_holding_ = false;
}

Result<void> FlightRecorder::wait_for_file_start() {
  if (!file_start_) return {};
  auto reached = std::make_shared<std::promise<void>>();
  const auto future = reached->get_future();
  // A sink that failed throws the job away, and the promise with it.
  sink_->run_in_order([reached = std::move(reached)](auto&) { reached->set_value(); });
  future.wait();
  return poll_file_start();
}

// Once the file is started, its beginning becomes the capture's.
Result<void> FlightRecorder::poll_file_start() {
  if (!file_start_) return {};
  const std::scoped_lock lock(file_start_->mutex);
  if (!file_start_->about) return {};
  SJ_TRY(begun, *std::exchange(file_start_->about, std::nullopt));
  record_->begin_with(begun);
  return {};
}

// ---- the end ----

Result<WrittenFile> FlightRecorder::finish() {
  dumps_.complete_all(*sink_);
  if (!is_holding_) {
    SJ_CHECK(sink_->finish());
    return WrittenFile{.path = options_->output, .bytes = sink_->bytes()};
  }
  const bool is_wanted = std::ranges::any_of(options_->triggers, [this](const Trigger& trigger) {
    return trigger.when == Trigger::When::kExit && record_->about().ended_by == "target exit";
  });
  const bool triggers_decide = std::ranges::any_of(options_->triggers, [](const Trigger& trigger) {
    return trigger.action == Trigger::Action::kDump || trigger.action == Trigger::Action::kStart;
  });
  if (triggers_decide && !is_wanted && !dumps_.is_asked()) {
    SJ_CHECK(sink_->finish());
    for (const Dumps::Done& done : dumps_.take_done(*sink_)) note_dump(done);
    return last_file_;
  }
  Result<Dumped> dumped;
  sink_->run_in_order([&](std::unique_ptr<ItemStore>& store) {
    dumped = store->dump(options_->output, record_->about());
  });
  SJ_CHECK(sink_->finish());
  if (!dumped) return std::unexpected(std::move(dumped).error());
  return WrittenFile{.path = options_->output, .bytes = dumped->bytes};
}

}  // namespace sojourn::capture
