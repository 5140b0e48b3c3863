#include "analysis/live/growing_trace.h"

#include <algorithm>
#include <utility>

#include "analysis/live/snapshot_facts.h"
#include "analysis/trace/merge.h"

namespace sojourn::live {

namespace {

// Blocks that are taken at once.
constexpr std::size_t kBlocks = 256;

// How long events wait for a clock pair. A pair is written behind the events that were drained
// before it, and events may follow until the pair is read.
constexpr std::uint64_t kSettleNs = 100'000'000;

// The maximum distance between streams if no pair of clocks gives it: a second of buffered events.
constexpr std::uint64_t kMostBehindNs = 1'000'000'000;

constexpr std::uint32_t kMaxStreams = 1U << 16;

// A stream without a group is treated like an unknown stream.
std::vector<std::uint16_t> trimmed(std::vector<std::uint16_t> groups) {
  while (!groups.empty() && groups.back() == 0) groups.pop_back();
  return groups;
}

}  // namespace

causes::TraceMetadata GrowingTrace::metadata() const {
  const trace::Metadata& about = follower_.about();
  return {schema(),      about.context,       about.capture,
          about.streams, about.queue_changes, about.targets};
}

// The schema behind the script, if there is one.
const model::Schema& GrowingTrace::schema() const {
  return script_.events ? script_.events->schema() : follower_.about().schema;
}

std::uint64_t GrowingTrace::origin_ns() const {
  const std::uint64_t open_ns = follower_.about().capture.open_ns;
  return open_ns != 0 || first_ns_ == UINT64_MAX ? open_ns : first_ns_;
}

Result<bool> GrowingTrace::poll(const Tick& tick) {
  if (has_ended_) return false;
  SJ_TRY(blocks, follower_.poll(kBlocks, [this](trace::StoredEvents&& stored) {
    first_ns_ = std::min(first_ns_, stored.header.min_ts_ns);
    newest_ns_ = std::max(newest_ns_, stored.header.max_ts_ns);
    waiting_bytes_ += stored.payload.size();
    waiting_.push_back(std::move(stored));
  }));
  if (follower_.has_ended()) {
    SJ_CHECK(end(tick));
    return true;
  }
  const auto& clocks = follower_.about().clocks;
  // The first one was read before anything was drained.
  if (clocks.size() > std::max<std::size_t>(std::exchange(clocks_, clocks.size()), 1)) {
    const std::uint64_t at_ns = clocks.back().monotonic_ns;
    SJ_CHECK(advance(at_ns - std::min(at_ns, kSettleNs), tick));
  }
  // Without marks of how far the streams are, events are taken once too many wait.
  if (waiting_bytes_ > options_.max_waiting_bytes)
    SJ_CHECK(advance(newest_ns_ - std::min(newest_ns_, kMostBehindNs), tick));
  return blocks != 0;
}

Result<void> GrowingTrace::settle(const Tick& tick) {
  if (has_ended_ || newest_ns_ == 0) return {};
  SJ_CHECK(advance(newest_ns_ + 1, tick));
  return {};
}

Result<void> GrowingTrace::end(const Tick& tick) {
  const std::uint64_t close_ns = follower_.about().capture.close_ns;
  const std::uint64_t end_ns = std::max(newest_ns_ == 0 ? 0 : newest_ns_ + 1, close_ns);
  SJ_CHECK(advance(end_ns, tick));
  has_ended_ = true;
  if (!rebuild_) return {};
  rebuild_->finish();
  rebuild_->advance(end_ns);
  return {};
}

Result<void> GrowingTrace::know_news() {
  if (std::exchange(known_blocks_, follower_.metadata_blocks()) == follower_.metadata_blocks())
    return {};
  const trace::Metadata& about = follower_.about();
  auto groups = trimmed(model::groups_of(about.streams, about.targets));
  const bool is_new = !rebuild_ || about.schema.points.size() != known_points_ || groups != groups_;
  if (is_new) {
    if (rebuild_) ++restarts_;
    // A sample has numbered them anew, and what comes has its own numbers again.
    if (is_sampling()) drop_carried();
    sample_.reset();
    left_out_.clear();
    not_played_.clear();
    if (budget_) budget_->keep_all();
    SJ_CHECK(begin_rebuild(std::move(groups)));
  } else {
    for (std::size_t at = known_streams_; at < about.streams.size(); ++at)
      links_->add_stream(about.streams[at]);
    if (script_.events) script_.events->know_streams(about.streams);
    rebuild_->know_names();
  }
  known_streams_ = about.streams.size();
  known_points_ = about.schema.points.size();
  return {};
}

// Units that are inside when points or processes are added are not reported.
Result<void> GrowingTrace::begin_rebuild(std::vector<std::uint16_t> groups) {
  const trace::Metadata& about = follower_.about();
  groups_ = groups;
  SJ_CHECK(begin_script());
  // A script's trace has ids instead of links.
  links_.emplace(about.capture.script.empty() ? about.schema : model::Schema(), about.streams,
                 about.capture.shed);
  SJ_TRY(rebuild,
         LiveRebuild::create(
             metadata(),
             {.open_ns = std::max({about.capture.open_ns, watermark_ns_, sampled_from_ns_}),
              .first_seqs = first_seqs(),
              .groups = std::move(groups)},
             origin_ns(), options_, choice_, script_));
  rebuild_ = std::move(rebuild);
  rebuild_->advance(watermark_ns_);
  if (budget_ && !sample_ && !options_.script) sample_ = OwnerSample::of(rebuild_->topology());
  if (!player_) player_.emplace(origin_ns(), options_.interval_ns);
  return {};
}

// A script that does not fit the first points ends the view. One that does not fit later ones ends
// by itself.
Result<void> GrowingTrace::begin_script() {
  const bool is_first = rebuild_ == nullptr;
  rebuild_.reset();
  script_ = {};
  if (!options_.script) return {};
  const trace::Metadata& about = follower_.about();
  auto made = options_.script(about.schema, origin_ns());
  if (made)
    if (auto begun = made->events->begin(about.streams); !begun)
      made = std::unexpected(std::move(begun).error());
  if (made) {
    script_ = std::move(*made);
    return {};
  }
  if (is_first) return std::unexpected(std::move(made).error());
  options_.script = {};
  script_error_ = made.error().text();
  return {};
}

// Forgets all results of the script, and goes on without it.
Result<void> GrowingTrace::end_script_of(std::string error) {
  options_.script = {};
  script_error_ = std::move(error);
  ++restarts_;
  return begin_rebuild(groups_);
}

// Returns the numbers of the streams' next events: a rebuild that begins now counts no earlier one
// as lost.
std::vector<std::uint64_t> GrowingTrace::first_seqs() const {
  std::vector<std::uint64_t> firsts = follower_.about().capture.stream_first;
  firsts.resize(std::max(firsts.size(), next_seqs_.size()));
  for (std::size_t stream = 0; stream < next_seqs_.size(); ++stream)
    firsts[stream] = std::max(firsts[stream], next_seqs_[stream]);
  for (std::size_t row = 0; row < carried_.size(); ++row) {
    const std::uint32_t stream = carried_.stream()[row];
    if (stream < firsts.size()) firsts[stream] = std::min(firsts[stream], carried_.seq()[row]);
  }
  return firsts;
}

void GrowingTrace::decode(const trace::StoredEvents& stored, model::EventBatch& events) {
  const std::uint32_t stream = stored.header.stream;
  // A damaged block may name any stream.
  if (!follower_.decode(stored, events) || events.empty() || stream >= kMaxStreams) return;
  if (stream >= next_seqs_.size()) next_seqs_.resize(std::size_t{stream} + 1);
  next_seqs_[stream] = std::max(next_seqs_[stream], events.seq().back() + 1);
}

// Returns the events of these blocks that are to be rebuilt, in the order of the file, which is
// also each stream's order: the sample numbers the kept events anew.
std::vector<model::EventBatch> GrowingTrace::sampled(std::vector<trace::StoredEvents>& due) {
  std::vector<model::EventBatch> kept;
  kept.reserve(due.size());
  for (trace::StoredEvents& one : due) {
    model::EventBatch& events = kept.emplace_back();
    decode(one, events);
    one.payload = {};
    const std::uint64_t all = events.size();
    sample_->pass(events);
    left_out_.push_back({.last_ns = one.header.max_ts_ns, .events = all - events.size()});
  }
  return kept;
}

void GrowingTrace::count_left_out(std::uint64_t watermark_ns) {
  std::erase_if(left_out_, [&](const LeftOut& block) {
    if (block.last_ns >= watermark_ns) return false;
    player_->count(block.events);
    return true;
  });
}

// Gives up the events that wait for their time.
void GrowingTrace::drop_carried() {
  if (carried_.empty()) return;
  sampled_from_ns_ = carried_.ts_ns().back() + 1;
  for (const model::PointId point : carried_.point())
    if (point < not_played_.size()) ++not_played_[point];
  carried_.clear();
}

// Rebuilds packets of other owners from now on. Packets that are under way are not reported.
Result<void> GrowingTrace::sample(double share) {
  rebuild_->finish();  // counts the events that it has held back
  const auto& points = rebuild_->totals().points;
  not_played_.resize(points.size());
  for (std::size_t point = 0; point < points.size(); ++point)
    not_played_[point] += points[point].events;
  sampled_from_ns_ = watermark_ns_;
  drop_carried();
  sample_->keep(share);
  SJ_CHECK(begin_rebuild(groups_));
  rebuild_->begin_anew(watermark_ns_);
  return {};
}

Result<void> GrowingTrace::keep_to_budget(std::uint64_t span_ns, std::uint64_t rebuild_ns) {
  // At the end the figures must stay as they are.
  if (!budget_ || !sample_ || choice_.expression || follower_.has_ended()) return {};
  const std::uint64_t now_ns = processor_ns();
  const std::uint64_t took_ns = now_ns - std::exchange(processor_at_ns_, now_ns);
  // The first look has no look before it.
  if (took_ns == now_ns) return {};
  const auto share = budget_->note(span_ns, took_ns, rebuild_ns);
  return share ? sample(*share) : Result<void>{};
}

// Includes events that were not rebuilt, because recording them took the target's time as well.
journeys::Totals GrowingTrace::totals() const {
  journeys::Totals totals = rebuild_->totals();
  const auto add = [&totals](const std::vector<std::uint64_t>& events) {
    for (std::size_t point = 0; point < std::min(events.size(), totals.points.size()); ++point) {
      totals.points[point].events += events[point];
      totals.events += events[point];
    }
  };
  add(not_played_);
  if (sample_) add(sample_->taken_out());
  for (const LeftOut& block : left_out_) totals.events -= block.events;
  return totals;
}

// Rebuilds what happened before the watermark. False: the tick wants no more.
Result<bool> GrowingTrace::advance(std::uint64_t watermark_ns, const Tick& tick) {
  if (watermark_ns <= watermark_ns_ || origin_ns() == 0) return true;
  SJ_CHECK(know_news());
  const auto later = std::ranges::stable_partition(waiting_, [&](const trace::StoredEvents& one) {
    return one.header.min_ts_ns < watermark_ns;
  });
  std::vector<trace::StoredEvents> due(std::make_move_iterator(waiting_.begin()),
                                       std::make_move_iterator(later.begin()));
  waiting_.erase(waiting_.begin(), later.begin());
  for (const trace::StoredEvents& one : due) waiting_bytes_ -= one.payload.size();
  const bool is_sampled = is_sampling();
  std::vector<model::EventBatch> kept;
  if (is_sampled) kept = sampled(due);
  count_left_out(watermark_ns);

  std::uint64_t decode_ns = 0;  // of the processor

  // The events that were carried are a block like others, and the first.
  std::vector<trace::BlockInfo> blocks;
  if (!carried_.empty())
    blocks.push_back({.offset = due.size(),
                      .events = static_cast<std::uint32_t>(carried_.size()),
                      .min_ts_ns = carried_.ts_ns().front(),
                      .max_ts_ns = carried_.ts_ns().back()});
  for (std::size_t at = 0; at < due.size(); ++at)
    blocks.push_back(
        {.offset = at,
         .stream = due[at].header.stream,
         .events = is_sampled ? static_cast<std::uint32_t>(kept[at].size()) : due[at].header.events,
         .min_ts_ns = due[at].header.min_ts_ns,
         .max_ts_ns = due[at].header.max_ts_ns});
  const auto load = [&](const trace::BlockInfo& block, model::EventBatch& into) {
    if (block.offset == due.size()) {
      into = std::exchange(carried_, {});
      return;
    }
    if (is_sampled) {
      into = std::move(kept[block.offset]);
      return;
    }
    const std::uint64_t begin_ns = processor_ns();
    decode(due[block.offset], into);
    due[block.offset].payload = {};
    if (sample_) sample_->pass(into);
    decode_ns += processor_ns() - begin_ns;
  };
  model::EventBatch not_yet;
  bool is_wanted = true;
  std::string script_error;
  const auto play = [&](model::EventBatch& events) {
    const auto stamps = events.ts_ns();
    const auto row_at = [&](std::uint64_t ts_ns) {
      return static_cast<std::size_t>(std::ranges::lower_bound(stamps, ts_ns) - stamps.begin());
    };
    const std::size_t first = row_at(watermark_ns_);
    const std::size_t end = row_at(watermark_ns);
    late_ += first;
    if (end < events.size()) not_yet.append(events, end, events.size() - end);
    if (end == first || !is_wanted || !script_error.empty()) return true;
    if (first != 0 || end != events.size()) {
      model::EventBatch part;
      part.append(events, first, end - first);
      events = std::move(part);
    }
    links_->resolve(events);
    if (script_.events) {
      if (auto passed = script_.events->pass(events); !passed) script_error = passed.error().text();
      if (!script_error.empty() || events.empty()) return true;
    }
    is_wanted = player_->play(*rebuild_, events, tick);
    return true;
  };
  const std::uint64_t begin_ns = processor_ns();
  SJ_CHECK(trace::merge_blocks(blocks, load, play));
  const std::uint64_t rebuild_ns = processor_ns() - begin_ns - decode_ns;
  carried_ = std::move(not_yet);
  const std::uint64_t before_ns = std::exchange(watermark_ns_, watermark_ns);
  if (script_error.empty() && script_.failure) script_error = script_.failure();
  if (script_.notice) script_error_ = script_.notice();
  if (!script_error.empty()) SJ_CHECK(end_script_of(std::move(script_error)));
  if (is_wanted) is_wanted = player_->reach(*rebuild_, watermark_ns, tick);
  SJ_CHECK(keep_to_budget(before_ns == 0 ? 0 : watermark_ns - before_ns, rebuild_ns));
  return is_wanted;
}

Result<void> GrowingTrace::choose(Choice choice) {
  if (rebuild_) SJ_CHECK(rebuild_->choose(choice));
  choice_ = std::move(choice);
  // A filter may choose packets of owners that the sample leaves out, so all are rebuilt again.
  if (!choice_.expression || !is_sampling()) return {};
  budget_->keep_all();
  return sample(1);
}

Snapshot GrowingTrace::snapshot() const {
  Snapshot snapshot;
  snapshot.path = follower_.name();
  snapshot.filter = choice_.text;
  snapshot.has_ended = has_ended_;
  snapshot.damaged = follower_.damaged_places();
  snapshot.left_out = late_;
  snapshot.restarts = restarts_;
  snapshot.script_error = script_error_;
  snapshot.open_ns = origin_ns();
  if (!rebuild_) {
    const auto& targets = follower_.about().targets;
    if (targets.empty()) return snapshot;
    snapshot.target = target_text(targets);
    snapshot.pid = targets.front().pid;
    return snapshot;
  }
  rebuild_->fill(snapshot);
  player_->fill(snapshot);
  const journeys::Totals all = totals();
  snapshot.events = all.events;
  if (is_sampling())
    snapshot.sample = {
        .owners = sample_->kept(), .of = sample_->owners(), .events_share = sample_->kept_share()};
  add_facts(metadata(), follower_.about().ledger, all, snapshot);
  return snapshot;
}

}  // namespace sojourn::live
