#include "analysis/page/page_timeline.h"

#include <algorithm>
#include <array>
#include <map>
#include <set>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "analysis/context/thread_states.h"
#include "analysis/pipeline/trace_marks.h"
#include "analysis/profile/sampled_work.h"
#include "analysis/trace/reader.h"

namespace sojourn::page {
namespace {

using context::State;
using context::ThreadSpan;
using nlohmann::ordered_json;

constexpr std::size_t kBuckets = 1200;
// Single spans are sent up to this number in view; more are sent as shares of stretches of time.
constexpr std::size_t kMaxSpans = 4000;

// Counts events by thread and stretch of time.
class EventRows {
 public:
  explicit EventRows(const TimelineSpan& span)
      : span_(span), step_(static_cast<double>(span.to_ns - span.from_ns) / kBuckets) {}

  void add(std::uint64_t ts_ns, std::uint32_t tid, model::PointId point) {
    auto& row = rows_[tid];
    if (row.empty()) row.resize(kBuckets);
    Bucket& bucket =
        row[std::min(kBuckets - 1,
                     static_cast<std::size_t>(static_cast<double>(ts_ns - span_.from_ns) / step_))];
    ++bucket.number;
    if (ts_ns >= bucket.first_ns) return;
    bucket.first_ns = ts_ns;
    bucket.point = point;
  }

  // Sends the thread's buckets as the row `number`. Returns the number of events in them.
  std::uint64_t tell(std::uint32_t tid, std::size_t number) {
    std::uint64_t events = 0;
    const auto row = rows_.find(tid);
    if (row == rows_.end()) return 0;
    for (std::size_t i = 0; i < row->second.size(); ++i) {
      const Bucket& bucket = row->second[i];
      if (bucket.number == 0) continue;
      events += bucket.number;
      threads_.push_back(static_cast<double>(number));
      buckets_.push_back(static_cast<double>(i));
      numbers_.push_back(bucket.number);
      firsts_.push_back(bucket.point);
    }
    return events;
  }

  void add_threads(std::map<std::uint32_t, std::size_t>& threads) const {
    for (const auto& [tid, row] : rows_) threads.try_emplace(tid, 0);
  }

  void send(AnswerSink& sink) const {
    sink.column("thread", threads_);
    sink.column("bucket", buckets_);
    sink.column("number", numbers_);
    sink.column("point", firsts_);
  }

 private:
  struct Bucket {
    std::uint32_t number = 0;
    std::uint64_t first_ns = UINT64_MAX;
    model::PointId point = 0;
  };
  TimelineSpan span_;
  double step_;
  std::map<std::uint32_t, std::vector<Bucket>> rows_;
  std::vector<double> threads_, buckets_, numbers_, firsts_;
};

// Activities and markers of a script that lie in the span, each as a stretch of its thread's row.
class MadeRows {
 public:
  MadeRows(const TimelineSpan& span, const model::Schema& schema) : span_(span) {
    for (const model::Point& point : schema.points)
      durations_.push_back(point.direction == model::Direction::kScript
                               ? point.field(model::kDurationField)
                               : std::nullopt);
  }

  void add(const model::EventView& event) {
    const auto duration = durations_[event.point];
    const std::uint64_t took_ns = duration ? event.values[*duration] : 0;
    const std::uint64_t begin_ns = event.ts_ns - std::min(took_ns, event.ts_ns);
    if (begin_ns > span_.to_ns || event.ts_ns < span_.from_ns) return;
    if (made_.size() == kMaxSpans)
      ++more_;
    else
      made_.push_back({event.tid, event.point, begin_ns, event.ts_ns});
  }

  void add_threads(std::map<std::uint32_t, std::size_t>& threads) const {
    for (const Made& one : made_) threads.try_emplace(one.tid, 0);
  }
  std::uint64_t more() const { return more_; }

  void send(AnswerSink& sink, const std::map<std::uint32_t, std::size_t>& row_of_thread,
            std::uint64_t origin_ns) const {
    std::vector<double> rows, from, to, points;
    const auto since = [&](std::uint64_t ns) {
      return static_cast<double>(std::clamp(ns, span_.from_ns, span_.to_ns)) -
             static_cast<double>(origin_ns);
    };
    for (const Made& one : made_) {
      rows.push_back(static_cast<double>(row_of_thread.at(one.tid)));
      from.push_back(since(one.begin_ns));
      to.push_back(since(one.end_ns));
      points.push_back(one.point);
    }
    sink.column("made_row", rows);
    sink.column("made_from", from);
    sink.column("made_to", to);
    sink.column("made_point", points);
  }

 private:
  struct Made {
    std::uint32_t tid = 0;
    model::PointId point = 0;
    std::uint64_t begin_ns = 0;
    std::uint64_t end_ns = 0;
  };
  TimelineSpan span_;
  std::vector<std::optional<std::size_t>> durations_;  // the field with the duration, by point
  std::vector<Made> made_;
  std::uint64_t more_ = 0;
};

// Draws what threads did in the span: each stay of a thread in a state, or the shares of stretches.
class StateRows {
 public:
  explicit StateRows(const TimelineSpan& span)
      : span_(span), step_(static_cast<double>(span.to_ns - span.from_ns) / kBuckets) {}

  void add(const ThreadSpan& span) {
    const std::uint64_t from = std::max(span.begin_ns, span_.from_ns);
    const std::uint64_t to = std::min(span.end_ns, span_.to_ns);
    if (from >= to || span.state == State::kUnknown || span.state == State::kGone) return;
    if (exact_.size() <= kMaxSpans) exact_.push_back(span);
    const std::size_t state = index_of(span.state);
    share(threads_[span.tid], state, from, to);
    if (span.state == State::kRunning && span.cpu >= 0) share(cpus_[span.cpu], state, from, to);
  }

  void add_threads(std::map<std::uint32_t, std::size_t>& threads) const {
    for (const auto& [tid, shares] : threads_) threads.try_emplace(tid, 0);
  }
  std::vector<std::int32_t> cpus() const {
    std::vector<std::int32_t> all;
    all.reserve(cpus_.size());
    for (const auto& [cpu, shares] : cpus_) all.push_back(cpu);
    return all;
  }
  std::uint64_t running_ns(std::uint32_t tid) const {
    const auto found = threads_.find(tid);
    return found == threads_.end() ? 0 : static_cast<std::uint64_t>(found->second.running_ns);
  }

  void send(AnswerSink& sink, const std::map<std::uint32_t, std::size_t>& row_of_thread,
            const std::map<std::int32_t, std::size_t>& row_of_cpu, std::uint64_t origin_ns) {
    if (exact_.size() <= kMaxSpans)
      tell_spans(row_of_thread, row_of_cpu, origin_ns);
    else
      tell_shares(row_of_thread, row_of_cpu, origin_ns);
    sink.column("slice_row", rows_);
    sink.column("slice_from", from_);
    sink.column("slice_to", to_);
    sink.column("slice_state", states_);
    sink.column("slice_share", shares_);
    sink.column("slice_thread", by_);
    sink.column("wakeup_at", wakeup_at_);
    sink.column("wakeup_from", wakeup_from_);
    sink.column("wakeup_to", wakeup_to_);
  }

 private:
  // Running, runnable, blocked.
  static constexpr std::size_t kStates = 3;
  struct Shares {
    std::vector<std::array<float, kStates>> of = std::vector<std::array<float, kStates>>(kBuckets);
    double running_ns = 0;
  };

  static std::size_t index_of(State state) {
    return state == State::kRunning ? 0 : state == State::kRunnable ? 1 : 2;
  }

  void share(Shares& shares, std::size_t state, std::uint64_t from_ns, std::uint64_t to_ns) {
    const double from = static_cast<double>(from_ns - span_.from_ns) / step_;
    const double to = static_cast<double>(to_ns - span_.from_ns) / step_;
    if (state == 0) shares.running_ns += static_cast<double>(to_ns - from_ns);
    for (auto i = static_cast<std::size_t>(from); i < kBuckets && static_cast<double>(i) < to;
         ++i) {
      const double begin = std::max(from, static_cast<double>(i));
      const double end = std::min(to, static_cast<double>(i + 1));
      shares.of[i][state] += static_cast<float>(end - begin);
    }
  }

  void push(std::size_t row, double from_ns, double to_ns, std::size_t state, double part,
            double thread) {
    rows_.push_back(static_cast<double>(row));
    from_.push_back(from_ns);
    to_.push_back(to_ns);
    states_.push_back(static_cast<double>(state));
    shares_.push_back(part);
    by_.push_back(thread);
  }

  void tell_spans(const std::map<std::uint32_t, std::size_t>& row_of_thread,
                  const std::map<std::int32_t, std::size_t>& row_of_cpu, std::uint64_t origin_ns) {
    const auto since = [&](std::uint64_t ns) {
      return static_cast<double>(std::clamp(ns, span_.from_ns, span_.to_ns) - origin_ns);
    };
    for (const ThreadSpan& span : exact_) {
      const std::size_t row = row_of_thread.at(span.tid);
      const auto thread = static_cast<double>(row);
      push(row, since(span.begin_ns), since(span.end_ns), index_of(span.state), 1, thread);
      const auto cpu = row_of_cpu.find(span.cpu);
      if (span.state == State::kRunning && cpu != row_of_cpu.end())
        push(cpu->second, since(span.begin_ns), since(span.end_ns), 0, 1, thread);
      const auto waker = row_of_thread.find(span.by);
      const bool is_woken = span.state == State::kBlocked && span.by != 0 &&
                            span.waker == context::Waker::kThread && span.end_ns <= span_.to_ns;
      if (!is_woken || waker == row_of_thread.end()) continue;
      wakeup_at_.push_back(since(span.end_ns));
      wakeup_from_.push_back(static_cast<double>(waker->second));
      wakeup_to_.push_back(thread);
    }
  }

  void tell_shares(const std::map<std::uint32_t, std::size_t>& row_of_thread,
                   const std::map<std::int32_t, std::size_t>& row_of_cpu, std::uint64_t origin_ns) {
    const auto tell = [&](std::size_t row, const Shares& shares, double thread) {
      const auto begin = static_cast<double>(span_.from_ns - origin_ns);
      for (std::size_t i = 0; i < kBuckets; ++i)
        for (std::size_t state = 0; state < 2; ++state)
          if (shares.of[i][state] > 0)
            push(row, begin + step_ * static_cast<double>(i),
                 begin + step_ * static_cast<double>(i + 1), state,
                 static_cast<double>(shares.of[i][state]), thread);
    };
    for (const auto& [tid, shares] : threads_) {
      const std::size_t row = row_of_thread.at(tid);
      tell(row, shares, static_cast<double>(row));
    }
    for (const auto& [cpu, shares] : cpus_) tell(row_of_cpu.at(cpu), shares, -1);
  }

  TimelineSpan span_;
  double step_;
  std::vector<ThreadSpan> exact_;
  std::map<std::uint32_t, Shares> threads_;
  std::map<std::int32_t, Shares> cpus_;
  std::vector<double> rows_, from_, to_, states_, shares_, by_;
  std::vector<double> wakeup_at_, wakeup_from_, wakeup_to_;
};

TimelineSpan whole(const trace::Reader& reader) {
  TimelineSpan span = {.from_ns = UINT64_MAX, .to_ns = 0};
  for (const trace::BlockInfo& block : reader.blocks()) {
    span.from_ns = std::min(span.from_ns, block.min_ts_ns);
    span.to_ns = std::max(span.to_ns, block.max_ts_ns);
  }
  return span;
}

void count_events(pipeline::TraceInput& input, const TimelineSpan& span, EventRows& rows,
                  MadeRows& made, const pipeline::Progress& progress) {
  const trace::Reader& reader = input.reader();
  std::set<std::uint32_t> scripted;
  for (const model::Stream& stream : reader.streams())
    if (stream.engine == model::Engine::kScript) scripted.insert(stream.id);
  model::EventBatch batch;
  std::uint64_t done = 0;
  for (const trace::BlockInfo& block : reader.blocks()) {
    progress(done += block.events, reader.events());
    // An activity is an event at its end, which may lie behind the span.
    if (block.max_ts_ns < span.from_ns ||
        (block.min_ts_ns > span.to_ns && !scripted.contains(block.stream)))
      continue;
    if (!input.reader().read(block, batch)) continue;  // damaged: the report says so
    for (std::size_t i = 0; i < batch.size(); ++i) {
      const std::uint64_t at = batch.ts_ns()[i];
      const model::Direction direction = reader.schema().points[batch.point()[i]].direction;
      if (at >= span.from_ns && at <= span.to_ns && direction <= model::Direction::kUplink)
        rows.add(at, batch[i].tid, batch.point()[i]);
      else if (direction == model::Direction::kScript)
        made.add(batch[i]);
    }
  }
}

Result<void> follow_threads(pipeline::TraceInput& input, const TimelineSpan& span, StateRows& rows,
                            const pipeline::Progress& progress) {
  const trace::Reader& reader = input.reader();
  if (!context::ContextPoints(reader.schema()).on_switch.point) return {};
  std::unordered_map<std::uint32_t, std::int32_t> cpus;
  for (const model::Stream& stream : reader.streams()) cpus[stream.id] = stream.cpu;
  context::ThreadStates states(reader.schema(), reader.context(), reader.capture(),
                               model::pids_of(reader.targets()),
                               [&](const ThreadSpan& one) { rows.add(one); });
  std::uint64_t done = 0;
  std::uint64_t last_ns = 0;
  SJ_CHECK(input.reader().merge([&](const model::EventBatch& events) {
    for (std::size_t i = 0; i < events.size(); ++i) {
      const model::EventView event = events[i];
      if (event.ts_ns > span.to_ns) return false;
      last_ns = event.ts_ns;
      states.consume(event, cpus[event.stream]);
    }
    progress(done += events.size(), reader.events());
    return true;
  }));
  states.finish(std::max(last_ns, std::min(span.to_ns, reader.capture().close_ns)));
  return {};
}

}  // namespace

Result<ordered_json> timeline(pipeline::TraceInput& input, const std::optional<TimelineSpan>& span,
                              AnswerSink& sink, const pipeline::Progress& progress) {
  const trace::Reader& reader = input.reader();
  const std::uint64_t origin = pipeline::origin_ns(reader);
  const TimelineSpan shown = span ? *span : whole(reader);
  if (shown.from_ns >= shown.to_ns) return fail("no event is there to be shown");
  EventRows events(shown);
  MadeRows made(shown, reader.schema());
  count_events(input, shown, events, made, progress);
  StateRows states({.from_ns = std::max(shown.from_ns, origin), .to_ns = shown.to_ns});
  SJ_CHECK(follow_threads(input, shown, states, progress));

  std::map<std::uint32_t, std::size_t> threads;
  events.add_threads(threads);
  made.add_threads(threads);
  states.add_threads(threads);
  const auto names = profile::thread_names(reader.context());
  auto listed = ordered_json::array();
  for (auto& [tid, row] : threads) {
    row = listed.size();
    const auto name = names.find(tid);
    listed.push_back({{"tid", tid},
                      {"name", name != names.end() ? name->second : fmt::format("thread {}", tid)},
                      {"events", events.tell(tid, row)},
                      {"running_ns", states.running_ns(tid)}});
  }
  std::map<std::int32_t, std::size_t> cpus;
  auto of_cpus = ordered_json::array();
  for (const std::int32_t cpu : states.cpus()) {
    cpus[cpu] = listed.size() + of_cpus.size();
    of_cpus.push_back(cpu);
  }
  events.send(sink);
  made.send(sink, threads, origin);
  states.send(sink, threads, cpus, origin);
  auto called = ordered_json::array();
  for (const model::Point& point : reader.schema().points) called.push_back(point.name());
  return ordered_json{{"origin_ns", origin},
                      {"first_ns", shown.from_ns - std::min(shown.from_ns, origin)},
                      {"last_ns", shown.to_ns - origin},
                      {"threads", std::move(listed)},
                      {"cpus", std::move(of_cpus)},
                      {"points", std::move(called)},
                      {"made_more", made.more()},
                      {"buckets", kBuckets}};
}

}  // namespace sojourn::page
