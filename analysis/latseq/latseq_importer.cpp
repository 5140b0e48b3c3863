#include "analysis/latseq/latseq_importer.h"

#include <algorithm>
#include <optional>
#include <utility>

#include <fmt/format.h>

#include "analysis/imports/cycle_clock.h"
#include "analysis/imports/import_all.h"
#include "analysis/imports/line_reader.h"
#include "analysis/latseq/line_points.h"
#include "analysis/trace/event_sorter.h"

namespace sojourn::latseq {

namespace {

// The number of events that may wait for a clock line. If none comes, the last clock lines give
// their times.
constexpr std::size_t kMaxWaiting = 4'000'000;
constexpr std::uint64_t kProgressLines = 4096;

// Brings the events of one file into one stream.
class FileImport {
 public:
  FileImport(LinePoints& points, imports::Destination& into, FileSummary& summary)
      : points_(points), into_(into), summary_(summary) {}

  Result<void> add(const imports::TextLine& text) {
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
    // The last line of a file may be cut. If no line before had its shape, more than a number is
    // missing; else at most its last number is cut.
    if (!text.has_end) {
      if (line.kind == Line::Kind::kClock || !points_.knows(line.shape)) {
        skip(Skip::kCut, summary_.lines);
        return {};
      }
      summary_.unended = true;
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
    trace::EventSorter& waiting = line.stamp.cycles ? cycles_ : seconds_;
    waiting.add({.ts_ns = line.stamp.value,
                 .seq = summary_.lines,
                 .stream = 0,
                 .tid = 0,
                 .point = *point,
                 .values = line.values});
    if (!line.stamp.cycles && seconds_.size() >= 2 * trace::kOrderWindow)
      return write(seconds_.take_first(trace::kOrderWindow));
    if (line.stamp.cycles && cycles_.size() >= kMaxWaiting && clock_.ready())
      return write_cycles(cycles_.take_first(kMaxWaiting - trace::kOrderWindow));
    return {};
  }

  // A converted file may still have its clock lines, which are not needed.
  Result<void> add_clock(const Line& line) {
    const std::uint64_t before = clock_.pairs() == 0 ? 0 : clock_.last_cycles();
    if (line.stamp.cycles && !clock_.add(line.stamp.value, line.clock_ns)) {
      skip(Skip::kClockLine, summary_.lines);
      return {};
    }
    ++summary_.clock_lines;
    // Events wait for a second, so that late ones are put in order with those of their time.
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
    return into_.write(std::move(events), points_.schema());
  }

  LinePoints& points_;
  imports::Destination& into_;
  FileSummary& summary_;
  LineParser parser_;
  imports::CycleClock clock_;
  // Until events are written, their sequence numbers are those of lines, and their times may be
  // readings of the cycle counter.
  trace::EventSorter seconds_;
  trace::EventSorter cycles_;
};

Result<void> read_file(LinePoints& points, const imports::Open& open,
                       imports::Destination& destination, const imports::Progress& progress,
                       FileSummary& summary) {
  SJ_TRY(stream, open(summary.path));
  imports::LineReader reader(*stream);
  FileImport into(points, destination, summary);
  imports::TextLine line;
  while (reader.next(line)) {
    SJ_CHECK(into.add(line));
    if (summary.lines % kProgressLines == 0) progress(stream->done_bytes(), stream->size_bytes());
  }
  SJ_CHECK(into.finish());
  summary.failure = reader.failure();
  return {};
}

// Says that a file has no event, and for which reasons its lines were skipped.
std::string why_empty(const FileSummary& file) {
  std::string text =
      fmt::format("no LatSeq event in {} line{}", file.lines, file.lines == 1 ? "" : "s");
  if (!file.failure.empty()) text += fmt::format("; {}", file.failure);
  for (std::size_t i = 0; i < kSkips; ++i)
    if (const Count& one = file.skipped[i]; one.count != 0)
      text += fmt::format("; {} (line {})", words(static_cast<Skip>(i)), one.first_line);
  return text;
}

}  // namespace

Result<Summary> import_files(std::span<const std::string> paths, const imports::Open& open,
                             imports::Destination& into, const imports::Progress& progress) {
  LinePoints points;
  SJ_TRY(summary,
         imports::import_all<Summary>(
             paths, into,
             [&](FileSummary& file) { return read_file(points, open, into, progress, file); },
             why_empty));
  summary.points = points.schema().points.size();
  SJ_CHECK(into.finish("LatSeq"));
  return std::move(summary);
}

}  // namespace sojourn::latseq
