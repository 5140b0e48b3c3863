#include "analysis/latseq/importer.h"

#include <algorithm>
#include <limits>
#include <optional>
#include <utility>

#include <fmt/format.h>

#include "analysis/latseq/clock.h"
#include "analysis/latseq/line_reader.h"
#include "analysis/latseq/points.h"
#include "analysis/trace/in_order.h"

namespace sojourn::latseq {

namespace {

// Events that wait for a clock line; a file where these have stopped is read by the last ones.
constexpr std::size_t kMostWaiting = 4'000'000;
constexpr std::uint64_t kProgressLines = 4096;

// One file's events on their way into one stream.
class FileImport {
 public:
  FileImport(std::uint32_t stream, Points& points, trace::Writer& writer, FileSummary& summary)
      : stream_(stream), points_(points), writer_(writer), summary_(summary) {}

  Result<void> add(const TextLine& text) {
    ++summary_.lines;
    if (text.too_long) {
      skip(Skip::kTooLong, summary_.lines);
      return {};
    }
    const Line& line = parser_.parse(text.text);
    switch (line.kind) {
      case Line::Kind::kBlank:
        ++summary_.blank;
        return {};
      case Line::Kind::kHeader:
        ++summary_.headers;
        return {};
      case Line::Kind::kSkipped:
        skip(text.has_end ? line.why : Skip::kCut, summary_.lines);
        return {};
      case Line::Kind::kClock:
      case Line::Kind::kEvent:
        break;
    }
    // The last number of a line that is cut may be cut as well, and nothing tells.
    if (!text.has_end) {
      skip(Skip::kCut, summary_.lines);
      return {};
    }
    return line.kind == Line::Kind::kClock ? add_clock(line) : add_event(line);
  }

  Result<void> finish() {
    SJ_CHECK(write(seconds_.take_first(seconds_.size())));
    SJ_CHECK(write_cycles(cycles_.take_first(cycles_.size())));
    summary_.disordered = seconds_.disordered() + cycles_.disordered();
    return {};
  }

 private:
  void skip(Skip why, std::uint64_t line) {
    summary_.skipped[static_cast<std::size_t>(why)].add(line);
  }

  Result<void> add_event(const Line& line) {
    const auto point = points_.of(line.shape);
    if (!point) {
      skip(point.error(), summary_.lines);
      return {};
    }
    summary_.fields_left_out.add(summary_.lines, line.fields_left_out);
    trace::InOrder& waiting = line.stamp.cycles ? cycles_ : seconds_;
    waiting.add({.ts_ns = line.stamp.value,
                 .seq = summary_.lines,
                 .stream = 0,
                 .tid = 0,
                 .point = *point,
                 .values = line.values});
    if (!line.stamp.cycles && seconds_.size() >= 2 * trace::kOrderWindow)
      return write(seconds_.take_first(trace::kOrderWindow));
    if (line.stamp.cycles && cycles_.size() >= kMostWaiting && clock_.ready())
      return write_cycles(cycles_.take_first(kMostWaiting - trace::kOrderWindow));
    return {};
  }

  // A converted file may have kept its clock lines: they tell nothing that the stamps do not.
  Result<void> add_clock(const Line& line) {
    const std::uint64_t before = clock_.pairs() == 0 ? 0 : clock_.last_cycles();
    if (line.stamp.cycles && !clock_.add(line.stamp.value, line.clock_ns)) {
      skip(Skip::kClockLine, summary_.lines);
      return {};
    }
    ++summary_.clock_lines;
    // A second behind, so that events that come late are put in order with those of their time.
    if (line.stamp.cycles && clock_.pairs() > 2) return write_cycles(cycles_.take_before(before));
    return {};
  }

  Result<void> write_cycles(model::EventBatch events) {
    if (!clock_.ready()) {
      for (const std::uint64_t line : events.seq()) skip(Skip::kNoClock, line);
      return {};
    }
    model::EventColumns columns = std::move(events).release();
    std::size_t out_of_range = 0;
    for (std::size_t row = 0; row < columns.ts_ns.size(); ++row) {
      std::uint64_t& time = columns.ts_ns[row];
      const auto ns = clock_.unix_ns(time);
      summary_.before_clock += ns && time < clock_.first_cycles();
      summary_.after_clock += ns && time > clock_.last_cycles();
      out_of_range += !ns;
      time = ns.value_or(0);
    }
    summary_.cycle_stamps += columns.ts_ns.size() - out_of_range;
    model::EventBatch timed(std::move(columns));
    if (out_of_range == 0) return write(std::move(timed));
    model::EventBatch kept;
    for (std::size_t row = 0; row < timed.size(); ++row) {
      if (timed.ts_ns()[row] != 0)
        kept.append(timed[row]);
      else
        skip(Skip::kStampRange, timed.seq()[row]);
    }
    return write(std::move(kept));
  }

  Result<void> write(model::EventBatch events) {
    if (events.empty()) return {};
    const auto times = events.ts_ns();
    if (summary_.events == 0) summary_.first_ns = times.front();
    summary_.first_ns = std::min(summary_.first_ns, times.front());
    summary_.last_ns = std::max(summary_.last_ns, times.back());
    model::EventColumns columns = std::move(events).release();
    std::ranges::fill(columns.stream, stream_);
    for (std::uint64_t& seq : columns.seq) seq = summary_.events++;
    if (points_.schema().points.size() > writer_points_) {
      SJ_CHECK(writer_.write(points_.schema()));
      writer_points_ = points_.schema().points.size();
    }
    return writer_.write(model::EventBatch(std::move(columns)));
  }

  std::uint32_t stream_;
  Points& points_;
  trace::Writer& writer_;
  FileSummary& summary_;
  LineParser parser_;
  Clock clock_;
  // Sequence numbers are those of lines until they are written, times perhaps those of the cycle
  // counter.
  trace::InOrder seconds_;
  trace::InOrder cycles_;
  std::size_t writer_points_ = 0;  // that this file has told the writer
};

Result<void> read_file(std::uint32_t stream, Points& points, trace::Writer& writer,
                       const Progress& progress, FileSummary& summary) {
  SJ_TRY(reader, LineReader::open(summary.path));
  FileImport into(stream, points, writer, summary);
  TextLine line;
  while (reader.next(line)) {
    SJ_CHECK(into.add(line));
    if (summary.lines % kProgressLines == 0) progress(reader.done_bytes(), reader.size_bytes());
  }
  SJ_CHECK(into.finish());
  summary.failure = reader.failure();
  return {};
}

// The first three reasons say enough.
std::string why_empty(const FileSummary& file) {
  std::string text = fmt::format("{}: no LatSeq event in {} line{}", file.path, file.lines,
                                 file.lines == 1 ? "" : "s");
  if (!file.failure.empty()) text += fmt::format("; {}", file.failure);
  for (std::size_t i = 0; i < kSkips; ++i)
    if (const Count& one = file.skipped[i]; one.count != 0)
      text += fmt::format("; {} (line {})", words(static_cast<Skip>(i)), one.first_line);
  return text;
}

Result<void> write_capture(const Summary& summary, trace::Writer& writer) {
  std::uint64_t first_ns = std::numeric_limits<std::uint64_t>::max();
  std::uint64_t last_ns = 0;
  model::Capture capture;
  for (const FileSummary& file : summary.files) {
    capture.stream_hits.push_back(file.events);
    first_ns = std::min(first_ns, file.first_ns);
    last_ns = std::max(last_ns, file.last_ns);
  }
  capture.tracer = "LatSeq";
  capture.engine = model::Engine::kImport;
  capture.attach = "import";
  capture.open_ns = first_ns;
  capture.close_ns = last_ns + 1;
  capture.ended_by = "end of file";
  SJ_CHECK(writer.write(model::ClockPair{.monotonic_ns = first_ns, .realtime_ns = first_ns}));
  return writer.write(capture);
}

std::string last_part(const std::string& path) {
  return path.substr(path.rfind('/') + 1);
}

}  // namespace

Result<Summary> import_files(std::span<const std::string> paths, trace::Writer& writer,
                             const Progress& progress) {
  model::Target target;
  target.name = last_part(paths.front());
  SJ_CHECK(writer.write(target));
  Summary summary;
  Points points;
  for (const std::string& path : paths) {
    const auto stream = static_cast<std::uint32_t>(summary.files.size());
    SJ_CHECK(writer.write(model::Stream{.id = stream, .engine = model::Engine::kImport}));
    FileSummary& file = summary.files.emplace_back();
    file.path = path;
    SJ_CHECK(read_file(stream, points, writer, progress, file));
    if (file.events == 0) return fail("{}", why_empty(file));
  }
  summary.points = points.schema().points.size();
  SJ_CHECK(write_capture(summary, writer));
  return summary;
}

}  // namespace sojourn::latseq
