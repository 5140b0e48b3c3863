#include "userspace/scripts/script_stage.h"

#include <algorithm>
#include <bit>
#include <utility>

#include <fmt/format.h>

namespace sojourn::scripts {

namespace {

// Streams with larger numbers share one count; real ones are a few.
constexpr std::size_t kStreams = 4096;
// Events of a stream are out of order by a few microseconds only.
constexpr std::size_t kRemembered = 4096;

}  // namespace

Result<std::shared_ptr<ScriptStage>> ScriptStage::create(ScriptSource source,
                                                         const model::Schema& schema,
                                                         std::uint64_t open_ns, Worker::Say say) {
  if (schema.points.empty()) return fail("{}: the trace has no points", source.name);
  std::shared_ptr<ScriptStage> stage(
      new ScriptStage(std::move(source), schema, open_ns, std::move(say)));
  SJ_CHECK(stage->start_worker());
  stage->registration_ = stage->worker_->registration();
  auto behind = schema_behind(stage->before_, stage->registration_);
  if (!behind) return std::unexpected(std::move(behind).error().within(stage->source_.name));
  stage->behind_ = std::move(*behind);
  stage->columns_.resize(stage->before_.points.size());
  for (std::uint32_t at = 0; at < stage->registration_.columns.size(); ++at)
    for (const model::PointId point : stage->registration_.columns[at].points)
      stage->columns_[point].push_back(at);
  return stage;
}

std::string ScriptStage::idleness() const {
  if (!registration_.is_empty()) return {};
  return fmt::format(
      "{}: defines nothing for this trace, so nothing changes: it may call filter, "
      "filter_journeys, column, activity, marker and on (docs/scripts.md)",
      source_.name);
}

Result<void> ScriptStage::start_worker() {
  worker_.reset();
  SJ_TRY(worker, Worker::start(source_, before_, open_ns_, say_));
  worker_ = std::move(worker);
  is_new_ = true;
  return {};
}

Result<void> ScriptStage::begin(std::span<const model::Stream> streams) {
  if (!is_new_) {
    // The output of loading was printed by the first worker.
    const auto say = std::exchange(say_, nullptr);
    auto started = start_worker();
    say_ = say;
    SJ_CHECK(std::move(started));
    if (worker_->registration() != registration_)
      return fail("{}: it registers something else each time that it is read", source_.name);
    worker_->say(say_);
  }
  is_new_ = false;
  seen_ = kept_ = 0;
  made_.assign(registration_.made.size(), 0);
  left_out_.clear();
  error_.clear();
  know_streams(streams);
  if (!registration_.sees_events) worker_.reset();
  return {};
}

void ScriptStage::know_streams(std::span<const model::Stream> streams) {
  if (worker_ == nullptr) return;
  for (const model::Stream& stream : streams)
    if (stream.id < kMaxStreams) worker_->exchange().cpu[stream.id] = stream.cpu;
}

Result<void> ScriptStage::pass(model::EventBatch& events) {
  if (worker_ == nullptr) return {};
  const std::vector<std::uint64_t> made = made_;
  model::EventBatch behind;
  behind.reserve(events.size(), events.values().size());
  for (std::size_t first = 0; first < events.size(); first += kRows)
    if (auto passed = pass_part(events, first, std::min(kRows, events.size() - first), behind);
        !passed) {
      worker_.reset();
      if (registration_.changes_events()) return passed;
      // Without the script this batch and all later ones stay as they are.
      error_ = passed.error().text();
      made_ = made;
      return {};
    }
  if (std::string notice = worker_->take_notice(); !notice.empty() && error_.empty())
    error_ = std::move(notice);
  events = std::move(behind);
  return {};
}

Result<void> ScriptStage::pass_part(const model::EventBatch& events, std::size_t first,
                                    std::size_t count, model::EventBatch& into) {
  SJ_CHECK(fill(events, first, count));
  Ask ask = Ask::kEvents;
  for (std::size_t row = 0;;) {
    SJ_TRY(answer, worker_->ask(ask));
    SJ_TRY(taken, take(events, first, row, answer == Answer::kDone, into));
    if (answer == Answer::kDone) return {};
    row = taken;
    ask = Ask::kContinue;
  }
}

Result<void> ScriptStage::fill(const model::EventBatch& events, std::size_t first,
                               std::size_t count) {
  Exchange& exchange = worker_->exchange();
  const auto firsts = events.first_value();
  const std::uint32_t begin = firsts[first];
  if (std::ranges::any_of(events.point(),
                          [this](model::PointId point) { return point >= before_.points.size(); }))
    return fail("{}: events of a point that came behind the script", source_.name);
  const std::size_t values = firsts[first + count] - begin;
  if (values > std::size(exchange.values))
    return fail("{}: events with more values than there can be", source_.name);
  const auto copy = [&](const auto& from, auto* to, std::size_t at, std::size_t many) {
    std::copy_n(from.begin() + static_cast<std::ptrdiff_t>(at), many, to);
  };
  copy(events.ts_ns(), exchange.ts_ns, first, count);
  copy(events.tid(), exchange.tid, first, count);
  copy(events.stream(), exchange.stream, first, count);
  copy(events.point(), exchange.point, first, count);
  for (std::size_t row = 0; row <= count; ++row)
    exchange.first_value[row] = firsts[first + row] - begin;
  copy(events.values(), exchange.values, begin, values);
  exchange.rows = static_cast<std::uint32_t>(count);
  return {};
}

Error ScriptStage::invalid_answer() const {
  return Error(fmt::format("{}: its worker answers nonsense", source_.name));
}

// Takes the rows from `row` up to the last one that made an activity or a marker, or all. Returns
// the next row.
Result<std::size_t> ScriptStage::take(const model::EventBatch& events, std::size_t first,
                                      std::size_t row, bool is_all, model::EventBatch& into) {
  const Exchange& exchange = worker_->exchange();
  const std::size_t count = std::min<std::size_t>(kRows, events.size() - first);
  const std::size_t words = exchange.made_words;
  // The worker pauses only when it has no room for more.
  if (words > kMadeWords || (!is_all && words == 0)) return std::unexpected(invalid_answer());
  std::size_t at = 0;
  for (; row < count; ++row) {
    if (!is_all && at == words) break;
    if (registration_.changes_events()) {
      append_changed(events[first + row], row, into);
    } else {
      // Events up to the next one that made something are passed on unchanged.
      const std::size_t last =
          at < words ? std::bit_cast<MadeHead>(exchange.made[at]).row : count - 1;
      if (last < row || last >= count) return std::unexpected(invalid_answer());
      append_unchanged(events, first + row, last + 1 - row, into);
      row = last;
    }
    SJ_TRY(next, append_made(events[first + row], row, at, words, into));
    at = next;
  }
  if (at != words) return std::unexpected(invalid_answer());
  return row;
}

void ScriptStage::append_changed(const model::EventView& event, std::size_t row,
                                 model::EventBatch& into) {
  seen_ += is_of_target(event) ? 1 : 0;
  if (worker_->exchange().keep[row] != 0)
    append_kept(event, row, into);
  else
    close_up(event, false);
}

void ScriptStage::append_unchanged(const model::EventBatch& events, std::size_t first,
                                   std::size_t count, model::EventBatch& into) {
  into.append(events, first, count);
  for (const model::PointId point : events.point().subspan(first, count))
    seen_ += model::is_of_target(before_.points[point].direction) ? 1 : 0;
  kept_ = seen_;
}

void ScriptStage::append_kept(const model::EventView& event, std::size_t row,
                              model::EventBatch& into) {
  const Exchange& exchange = worker_->exchange();
  model::EventView kept = event;
  kept_ += is_of_target(event) ? 1 : 0;
  if (const auto& columns = columns_[event.point]; !columns.empty()) {
    values_.assign(event.values.begin(), event.values.end());
    for (const std::uint32_t column : columns) values_.push_back(exchange.columns[column][row]);
    kept.values = values_;
  }
  kept.seq = close_up(event, true);
  into.append(kept);
}

bool ScriptStage::is_of_target(const model::EventView& event) const {
  return model::is_of_target(before_.points[event.point].direction);
}

// Activities and markers stand behind the event that made them, with its thread, stream and number.
Result<std::size_t> ScriptStage::append_made(const model::EventView& by, std::size_t row,
                                             std::size_t at, std::size_t words,
                                             model::EventBatch& into) {
  const Exchange& exchange = worker_->exchange();
  while (at < words) {
    const auto head = std::bit_cast<MadeHead>(exchange.made[at]);
    if (head.row != row) return at;
    if (head.which >= made_.size()) return std::unexpected(invalid_answer());
    const std::size_t count = registration_.made[head.which].values();
    if (words - at < 1 + count) return std::unexpected(invalid_answer());
    model::EventView made = by;
    made.point = static_cast<model::PointId>(before_.points.size() + head.which);
    made.values = std::span(exchange.made).subspan(at + 1, count);
    into.append(made);
    ++made_[head.which];
    at += 1 + count;
  }
  return at;
}

// Returns the event's number minus the events that were left out before it. A stream's numbers come
// in order, except that a few are swapped.
std::uint64_t ScriptStage::close_up(const model::EventView& event, bool is_kept) {
  if (!registration_.filters_events) return event.seq;
  const std::size_t stream = std::min<std::size_t>(event.stream, kStreams);
  if (stream >= left_out_.size()) left_out_.resize(stream + 1);
  LeftOut& left_out = left_out_[stream];
  std::uint64_t before = left_out.count;
  if (event.seq < left_out.next_seq) {
    for (const std::uint64_t seq : left_out.lately) before -= seq > event.seq ? 1 : 0;
  } else {
    left_out.next_seq = event.seq + 1;
  }
  if (is_kept) return event.seq - before;
  ++left_out.count;
  left_out.lately.push_back(event.seq);
  if (left_out.lately.size() > kRemembered) left_out.lately.pop_front();
  return event.seq;
}

}  // namespace sojourn::scripts
