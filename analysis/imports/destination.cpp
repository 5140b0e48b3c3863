#include "analysis/imports/destination.h"

#include <algorithm>
#include <utility>

#include <fmt/chrono.h>
#include <fmt/format.h>

namespace sojourn::imports {
namespace {

std::string wall_words(std::uint64_t unix_ns) {
  const auto seconds = static_cast<std::time_t>(unix_ns / 1'000'000'000);
  return fmt::format("{:%Y-%m-%d %H:%M:%S} UTC", fmt::gmtime(seconds));
}

Result<void> copy_events(trace::Reader& recorded, trace::Writer& writer, const Progress& progress) {
  model::EventBatch events;
  std::uint64_t done = 0;
  // read() may find damage, but the list of blocks stays as it is.
  for (const trace::BlockInfo& block : recorded.blocks()) {
    SJ_CHECK(recorded.read(block, events));
    SJ_CHECK(writer.write(events));
    done += block.bytes;
    progress(done, recorded.bytes());
  }
  return {};
}

Result<void> copy_all_but_events(const trace::Reader& recorded, trace::Writer& writer) {
  SJ_CHECK(writer.write(recorded.schema()));
  for (const model::Target& target : recorded.targets()) SJ_CHECK(writer.write(target));
  SJ_CHECK(writer.write(recorded.host()));
  for (const model::Stream& stream : recorded.streams()) SJ_CHECK(writer.write(stream));
  for (const model::ClockPair& clock : recorded.clocks()) SJ_CHECK(writer.write(clock));
  if (!recorded.ledger().empty()) SJ_CHECK(writer.write(recorded.ledger()));
  if (!recorded.queue_changes().empty()) SJ_CHECK(writer.write(recorded.queue_changes()));
  if (!recorded.sampling().queues.empty()) SJ_CHECK(writer.write(recorded.sampling()));
  if (!recorded.context().empty()) SJ_CHECK(writer.write(recorded.context()));
  if (!recorded.profile().empty()) SJ_CHECK(writer.write(recorded.profile()));
  if (recorded.energy().was_asked_for()) SJ_CHECK(writer.write(recorded.energy()));
  return {};
}

}  // namespace

Result<Destination> Destination::alone(trace::Writer& writer, std::string name, Clock clock) {
  model::Target target;
  target.name = std::move(name);
  SJ_CHECK(writer.write(target));
  Destination made(writer, clock);
  made.capture_.engine = model::Engine::kImport;
  made.capture_.attach = "import";
  made.capture_.ended_by = "end of file";
  return made;
}

Result<Destination> Destination::beside(trace::Reader& recorded, trace::Writer& writer,
                                        const Progress& progress, Clock clock) {
  if (!recorded.damage().empty())
    return fail("{}: damaged at byte {} ({}): nothing is put beside it", recorded.path(),
                recorded.damage().front().offset, recorded.damage().front().what);
  Destination made(writer, clock);
  made.wall_ = model::WallClock(recorded.clocks());
  if (clock == Clock::kWall && !made.wall_.known())
    return fail("{}: it does not say what its times are on the wall's clock", recorded.path());
  made.recorded_ = recorded.path();
  made.schema_ = recorded.schema();
  made.own_points_ = made.schema_.points.size();
  made.capture_ = recorded.capture();
  made.open_ns_ = made.capture_.open_ns;
  made.close_ns_ = made.capture_.close_ns;
  for (const model::Stream& stream : recorded.streams())
    made.next_stream_ = std::max(made.next_stream_, stream.id + 1);
  // A capture that did not end in order lasted as long as it has events.
  if (made.close_ns_ == 0)
    for (const trace::BlockInfo& block : recorded.blocks())
      made.close_ns_ = std::max(made.close_ns_, block.max_ts_ns + 1);
  SJ_CHECK(copy_all_but_events(recorded, writer));
  SJ_CHECK(copy_events(recorded, writer, progress));
  return made;
}

Result<void> Destination::begin(ImportedFile& file) {
  file_ = &file;
  hits_.push_back(0);
  return writer_->write(model::Stream{.id = next_stream_++, .engine = model::Engine::kImport});
}

Result<void> Destination::write(model::EventBatch events, const model::Schema& points) {
  if (events.empty()) return {};
  const auto times = events.ts_ns();
  if (file_->events + file_->outside == 0) file_->first_ns = times.front();
  file_->first_ns = std::min(file_->first_ns, times.front());
  file_->last_ns = std::max(file_->last_ns, times.back());
  if (!recorded_.empty()) events = in_time(events);
  if (events.empty()) return {};
  SJ_CHECK(write_schema(points));
  model::EventColumns columns = std::move(events).release();
  std::ranges::fill(columns.stream, next_stream_ - 1);
  for (std::uint64_t& seq : columns.seq) seq = hits_.back()++;
  for (model::PointId& point : columns.point)
    point = static_cast<model::PointId>(point + own_points_);
  first_ns_ = std::min(first_ns_, columns.ts_ns.front());
  last_ns_ = std::max(last_ns_, columns.ts_ns.back());
  file_->events = hits_.back();
  return writer_->write(model::EventBatch(std::move(columns)));
}

Result<void> Destination::write_schema(const model::Schema& points) {
  const std::size_t known = schema_.points.size() - own_points_;
  if (points.points.size() == known) return {};
  if (own_points_ + points.points.size() > model::kMaxPoints)
    return fail("{}: with its points there are more than a trace holds", file_->path);
  schema_.points.insert(schema_.points.end(),
                        points.points.begin() + static_cast<std::ptrdiff_t>(known),
                        points.points.end());
  return writer_->write(schema_);
}

Result<void> Destination::name_threads(std::vector<model::ContextName> names) {
  return writer_->write(model::Context{.families = {}, .names = std::move(names)});
}

void Destination::note_stamp_error(std::uint64_t ns) {
  capture_.stamp_error_ns = std::max(capture_.stamp_error_ns, ns);
}

Result<void> Destination::end() {
  if (file_->events != 0 || file_->outside == 0) return {};
  return fail("{}: no event is from the time of {}: {}", file_->path, recorded_, outside_text());
}

std::string Destination::outside_text() const {
  if (clock_ == Clock::kMonotonic)
    return fmt::format(
        "its events are from {:.3f} s to {:.3f} s since the machine's start, and that trace from "
        "{:.3f} s to {:.3f} s",
        static_cast<double>(file_->first_ns) / 1e9, static_cast<double>(file_->last_ns) / 1e9,
        static_cast<double>(open_ns_) / 1e9, static_cast<double>(close_ns_) / 1e9);
  return fmt::format("its events are from {} to {}, and that trace from {} to {}",
                     wall_words(file_->first_ns), wall_words(file_->last_ns),
                     wall_words(wall_.realtime_ns(open_ns_)),
                     wall_words(wall_.realtime_ns(close_ns_)));
}

Result<void> Destination::place_zero(std::uint64_t unix_ns, const std::string& path) {
  constexpr std::uint64_t kMostSet = 1'000'000'000;
  if (!recorded_.empty() && wall_.known()) {
    const std::uint64_t own_ns = wall_.realtime_ns(open_ns_) - open_ns_;
    const std::uint64_t apart_ns = own_ns > unix_ns ? own_ns - unix_ns : unix_ns - own_ns;
    if (apart_ns > kMostSet)
      return fail(
          "{0}: its clock and that of {2} began {1:.3f} s apart: they are not from one machine "
          "since its start; --clock wall places times by the wall clock",
          path, static_cast<double>(apart_ns) / 1e9, recorded_);
  }
  if (!zero_unix_ns_) zero_unix_ns_ = unix_ns;
  return {};
}

Result<void> Destination::finish(std::string_view tracer) {
  if (recorded_.empty()) {
    capture_.tracer = tracer;
    capture_.open_ns = first_ns_;
    capture_.close_ns = last_ns_ + 1;
    capture_.stream_hits = hits_;
    // The offset of a monotonic clock to 1970 may be unknown. Then there is no pair.
    const auto zero_ns = clock_ == Clock::kWall ? std::optional<std::uint64_t>(0) : zero_unix_ns_;
    if (zero_ns)
      SJ_CHECK(writer_->write(
          model::ClockPair{.monotonic_ns = first_ns_, .realtime_ns = first_ns_ + *zero_ns}));
  } else if (!capture_.stream_hits.empty()) {
    capture_.stream_hits.resize(next_stream_ - hits_.size());
    capture_.stream_hits.insert(capture_.stream_hits.end(), hits_.begin(), hits_.end());
  }
  return writer_->write(capture_);
}

std::optional<std::uint64_t> Destination::time_of(std::uint64_t time_ns) const {
  const std::uint64_t ts_ns = clock_ == Clock::kMonotonic ? time_ns : wall_.ts_ns(time_ns);
  if (ts_ns < open_ns_ || ts_ns >= close_ns_) return std::nullopt;
  return ts_ns;
}

model::EventBatch Destination::in_time(const model::EventBatch& events) {
  model::EventBatch kept;
  for (std::size_t row = 0; row < events.size(); ++row) {
    model::EventView event = events[row];
    const auto ts_ns = time_of(event.ts_ns);
    if (!ts_ns) {
      ++file_->outside;
      continue;
    }
    event.ts_ns = *ts_ns;
    kept.append(event);
  }
  return kept;
}

}  // namespace sojourn::imports
