#include "userspace/capture/session/capture_record.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "userspace/base/clock.h"

namespace sojourn::capture {

namespace {

// Lists up to this length are written whenever they have grown.
constexpr std::size_t kFewSpans = 256;

}  // namespace

CaptureRecord::CaptureRecord(std::string tracer, bool dumps_have_all)
    : dumps_have_all_(dumps_have_all) {
  about_.tracer = std::move(tracer);
  about_.engine = model::Engine::kBpf;
}

void CaptureRecord::open(std::uint64_t open_ns, std::optional<std::chrono::nanoseconds> duration) {
  about_.open_ns = open_ns;
  if (duration)
    end_ns_ =
        std::max(base::monotonic_ns(), open_ns) + static_cast<std::uint64_t>(duration->count());
}

void CaptureRecord::begin_with(const model::Capture& held) {
  about_.open_ns = held.open_ns;
  about_.stream_first = held.stream_first;
}

void CaptureRecord::finish(Totals totals) {
  about_.stream_hits = std::move(totals.stream_hits);
  about_.stamp_error_ns = std::max(about_.stamp_error_ns, totals.stamp_error_ns);
  about_.events_of_unknown_cpu = totals.events_of_unknown_cpu;
  std::ranges::copy(totals.silences, std::back_inserter(about_.shed));
  about_.tracer_cpu_ns = totals.tracer_cpu_ns;
  about_.tracer_rss_bytes = totals.tracer_rss_bytes;
  for (model::ShedSpan& span : about_.shed)
    if (span.until_ns == 0) span.until_ns = about_.close_ns;
}

void CaptureRecord::note_starved(std::uint64_t ns) {
  about_.longest_starved_ns = std::max(about_.longest_starved_ns, ns);
}

void CaptureRecord::note_engine(const EventEngine& engine, bool any_rings) {
  about_.sites += static_cast<std::uint32_t>(engine.sites());
  if (any_rings) about_.engine = model::Engine::kRing;
  const std::string mechanism = engine.mechanism();
  if (!about_.attach.contains(mechanism))
    about_.attach += (about_.attach.empty() ? "" : " and ") + mechanism;
}

void CaptureRecord::note_counters(std::vector<model::CounterOffset> offsets, bool are_corrected) {
  about_.counter_offsets = std::move(offsets);
  about_.counters_corrected = are_corrected;
}

void CaptureRecord::note_points(std::size_t points) {
  about_.hit_cost_ps.resize(std::max(about_.hit_cost_ps.size(), points));
  about_.hit_spread_ps.resize(about_.hit_cost_ps.size());
}

// The cost of a point that several processes have is the highest of theirs.
void CaptureRecord::note_cost(std::size_t point, std::uint64_t ps, double spread) {
  note_points(point + 1);
  if (ps <= about_.hit_cost_ps[point]) return;
  about_.hit_cost_ps[point] = ps;
  about_.hit_spread_ps[point] = static_cast<std::uint64_t>(static_cast<double>(ps) * spread);
}

std::uint64_t CaptureRecord::hit_cost_ps(std::size_t point) const {
  return point < about_.hit_cost_ps.size() ? about_.hit_cost_ps[point] : 0;
}

// A shed span begins before the first hit can be missing, and ends once none is missing any more.
void CaptureRecord::begin_shedding(std::span<const model::PointId> points) {
  const std::uint64_t now_ns = base::monotonic_ns();
  for (const model::PointId point : points)
    about_.shed.push_back({.point = point, .from_ns = now_ns, .until_ns = 0});
}

void CaptureRecord::note_off(std::span<const model::PointId> points) {
  for (const model::PointId point : points)
    about_.shed.push_back({.point = point, .from_ns = about_.open_ns, .until_ns = about_.close_ns});
}

void CaptureRecord::end_shedding(std::span<const model::PointId> points) {
  for (model::ShedSpan& span : about_.shed)
    if (span.until_ns == 0 && std::ranges::find(points, span.point) != points.end())
      span.until_ns = base::monotonic_ns();
}

std::vector<model::PointId> CaptureRecord::points_off() const {
  std::vector<model::PointId> off;
  for (const model::ShedSpan& span : about_.shed)
    if (span.until_ns == 0) off.push_back(span.point);
  return off;
}

void CaptureRecord::note_unarmed(const model::UnarmedSpan& span) {
  constexpr std::size_t kMax = 65'536;
  if (!is_open()) return;
  if (about_.unarmed.size() < kMax) {
    about_.unarmed.push_back(span);
    return;
  }
  model::UnarmedSpan& several = about_.unarmed.back();
  several.pid = 0;
  several.point = model::kNoPoint;
  several.from_ns = std::min(several.from_ns, span.from_ns);
  several.until_ns = std::max(several.until_ns, span.until_ns);
}

void CaptureRecord::note_unplaced(std::span<const std::string> points,
                                  const model::Schema& schema) {
  for (const std::string& point : points) {
    const bool is_placed = std::ranges::any_of(schema.points, [&](const model::Point& placed) {
      return point == fmt::format("{} {}", letter(placed.direction), placed.name());
    });
    if (!is_placed && std::ranges::find(about_.unplaced, point) == about_.unplaced.end())
      about_.unplaced.push_back(point);
  }
}

void CaptureRecord::write_shed(Sink& sink) {
  const std::size_t spans = about_.shed.size();
  if (dumps_have_all_ || (spans > kFewSpans && spans < 2 * shed_written_)) return;
  shed_written_ = spans;
  sink.push(about_);
}

void CaptureRecord::write_unarmed(Sink& sink) {
  const std::size_t spans = about_.unarmed.size();
  if (dumps_have_all_ || spans == unarmed_written_ ||
      (spans > kFewSpans && spans < 2 * unarmed_written_))
    return;
  unarmed_written_ = spans;
  sink.push(about_);
}

}  // namespace sojourn::capture
