#include "analysis/live/whole_trace.h"

#include <algorithm>

#include "analysis/live/snapshot_facts.h"
#include "analysis/pipeline/trace_marks.h"

namespace sojourn::live {

causes::TraceMetadata WholeTrace::metadata() const {
  return {reader_.schema(),  reader_.context(),       reader_.capture(),
          reader_.streams(), reader_.queue_changes(), reader_.targets()};
}

Result<std::unique_ptr<LiveRebuild>> WholeTrace::new_rebuild(const Choice& choice) const {
  return LiveRebuild::create(metadata(), pipeline::capture_marks_of(reader_),
                             pipeline::origin_ns(reader_), options_, choice, script_);
}

// Puts the script in front of everything, once. Each time that the trace is played it begins anew.
Result<void> WholeTrace::prepare() {
  if (!options_.script || script_.events) return {};
  SJ_TRY(script, options_.script(reader_.schema(), pipeline::origin_ns(reader_)));
  script_ = std::move(script);
  reader_.set_stage(script_.events);
  return {};
}

Result<bool> WholeTrace::poll(const Tick& tick) {
  if (has_ended_) return false;
  SJ_CHECK(prepare());
  SJ_TRY(rebuild, new_rebuild(choice_));
  rebuild_ = std::move(rebuild);
  player_.emplace(pipeline::origin_ns(reader_), options_.interval_ns);
  bool is_wanted = true;
  SJ_CHECK(reader_.merge([&](const model::EventBatch& events) {
    is_wanted = player_->play(*rebuild_, events, tick);
    return is_wanted;
  }));
  has_ended_ = true;
  if (script_.failure)
    if (const std::string failure = script_.failure(); !failure.empty()) return fail("{}", failure);
  if (!is_wanted) return true;
  const std::uint64_t end_ns = std::max(rebuild_->totals().last_ns, reader_.capture().close_ns);
  player_->reach(*rebuild_, end_ns, tick);
  rebuild_->finish();
  rebuild_->advance(end_ns);
  return true;
}

Result<void> WholeTrace::choose(Choice choice) {
  SJ_CHECK(prepare());
  SJ_CHECK(new_rebuild(choice));
  choice_ = std::move(choice);
  has_ended_ = false;
  return {};
}

Snapshot WholeTrace::snapshot() const {
  Snapshot snapshot;
  snapshot.path = reader_.path();
  snapshot.filter = choice_.text;
  snapshot.has_ended = has_ended_;
  if (script_.notice) snapshot.script_error = script_.notice();
  snapshot.damaged = reader_.damage().size();
  snapshot.open_ns = pipeline::origin_ns(reader_);
  if (!rebuild_) return snapshot;
  rebuild_->fill(snapshot);
  player_->fill(snapshot);
  add_facts(metadata(), reader_.ledger(), rebuild_->totals(), snapshot);
  return snapshot;
}

}  // namespace sojourn::live
