#include "analysis/hits/text_importer.h"

#include <string_view>
#include <utility>

#include "analysis/hits/bpftrace_line.h"
#include "analysis/hits/perf_line.h"
#include "analysis/imports/import_all.h"
#include "analysis/imports/line_reader.h"

namespace sojourn::hits {

namespace {

constexpr std::uint64_t kProgressLines = 4096;

Result<void> read_file(Tracer tracer, const imports::Open& open, HitImport& into,
                       const imports::Progress& progress, FileSummary& file) {
  SJ_TRY(stream, open(file.path));
  imports::LineReader reader(*stream);
  imports::TextLine text;
  BpftraceLines bpftrace;
  Hit hit;
  while (reader.next(text)) {
    ++file.lines;
    if (file.lines % kProgressLines == 0) progress(stream->done_bytes(), stream->size_bytes());
    if (text.too_long) {
      file.skip(Skip::kTooLong);
      continue;
    }
    const Line line =
        tracer == Tracer::kPerf ? parse_perf_line(text.text, hit) : bpftrace.parse(text.text, hit);
    file.lost += line.lost;
    if (line.kind == LineKind::kOther) ++file.other;
    if (line.kind == LineKind::kMalformed) file.skip(Skip::kMalformed);
    if (line.kind != LineKind::kHit) continue;
    if (text.has_end)
      SJ_CHECK(into.add(hit));
    else
      file.skip(Skip::kCut);
  }
  file.failure = reader.failure();
  return into.finish();
}

}  // namespace

Result<Summary> import_texts(std::span<const std::string> paths, Tracer tracer, PointMap map,
                             TimeShift shift, const imports::Open& open, imports::Destination& into,
                             const imports::Progress& progress) {
  const std::string_view name = tracer == Tracer::kPerf ? "perf script" : "bpftrace";
  HitPoints points(std::move(map));
  ThreadNames threads;
  SJ_TRY(summary, imports::import_all<Summary>(
                      paths, into,
                      [&](FileSummary& file) {
                        HitImport hits(points, threads, shift, into, file);
                        return read_file(tracer, open, hits, progress, file);
                      },
                      [&](const FileSummary& file) { return why_empty(file, name); }));
  summary.points = points.schema().points.size();
  SJ_CHECK(name_threads(threads, into));
  SJ_CHECK(into.finish(name));
  return std::move(summary);
}

}  // namespace sojourn::hits
