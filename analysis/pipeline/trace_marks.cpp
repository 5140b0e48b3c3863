#include "analysis/pipeline/trace_marks.h"

#include <algorithm>
#include <cstdint>
#include <map>
#include <utility>
#include <vector>

#include "analysis/trace/completeness.h"

namespace sojourn::pipeline {
namespace {

struct StreamEnd {
  std::uint64_t events = 0;
  std::uint64_t next_seq = 0;
  std::uint64_t last_ns = 0;
};

// Losses after a stream's last event leave no gap: the ledger, or the capture, counts more than its
// numbers show.
std::vector<journeys::LossSpan> losses_at_the_end(const trace::Reader& reader) {
  std::map<std::uint32_t, StreamEnd> ends;
  for (const auto& block : reader.blocks()) {
    auto& end = ends[block.stream];
    end.events += block.events;
    end.next_seq = std::max(end.next_seq, block.last_seq + 1);
    end.last_ns = std::max(end.last_ns, block.max_ts_ns);
  }
  std::map<std::uint32_t, std::uint64_t> lost;
  for (const auto& entry : reader.ledger())
    if (entry.cause != model::LossCause::kFiltered) lost[entry.stream] += entry.count;
  // Blocks that the file lacks are no better.
  for (const auto& [stream, account] : trace::completeness_of(reader).streams)
    lost[stream] += account.unaccounted();
  for (const auto& stream : reader.streams())
    if (!model::carries_points(stream.engine)) lost.erase(stream.id);
  const auto& firsts = reader.capture().stream_first;
  std::vector<journeys::LossSpan> spans;
  for (const auto& [stream, count] : lost) {
    const auto& end = ends[stream];
    const std::uint64_t first = stream < firsts.size() ? firsts[stream] : 0;
    if (count == 0 || first + end.events + count <= end.next_seq) continue;
    spans.push_back({std::max(end.last_ns, reader.capture().open_ns), UINT64_MAX});
  }
  return spans;
}

}  // namespace

journeys::CaptureMarks capture_marks_of(const trace::Reader& reader) {
  std::vector<journeys::LossSpan> losses = losses_at_the_end(reader);
  const auto& points = reader.schema().points;
  for (const model::ShedSpan& span : reader.capture().shed) {
    journeys::LossSpan& loss = losses.emplace_back();
    loss.begin_ns = span.from_ns;
    loss.end_ns = span.until_ns == 0 ? UINT64_MAX : span.until_ns;
    if (span.point < points.size()) loss.direction = points[span.point].direction;
  }
  for (const auto& span : reader.capture().unarmed) losses.push_back({span.from_ns, span.until_ns});
  return {.open_ns = reader.capture().open_ns,
          .close_ns = reader.capture().close_ns,
          .first_seqs = reader.capture().stream_first,
          .losses = std::move(losses),
          .groups = model::groups_of(reader.streams(), reader.targets())};
}

std::uint64_t origin_ns(const trace::Reader& reader) {
  if (reader.capture().open_ns != 0) return reader.capture().open_ns;
  if (reader.blocks().empty()) return 0;
  return std::ranges::min(reader.blocks(), {}, &trace::BlockInfo::min_ts_ns).min_ts_ns;
}

}  // namespace sojourn::pipeline
