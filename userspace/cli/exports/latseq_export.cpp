#include "userspace/cli/exports/latseq_export.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <string_view>
#include <utility>
#include <vector>

#include "analysis/base/printable.h"
#include "analysis/latseq/line_writer.h"
#include "analysis/latseq/native.h"
#include "analysis/latseq/texts.h"
#include "analysis/model/wall_clock.h"
#include "analysis/pipeline/trace_pass.h"
#include "userspace/base/thread_executor.h"
#include "userspace/cli/latseq_output.h"
#include "userspace/cli/progress.h"
#include "userspace/cli/tell.h"
#include "userspace/cli/trace_argument.h"
#include "userspace/cli/units.h"

namespace sojourn::cli {
namespace {

using PrintPart = Result<void> (*)(const latseq::Recording&, const latseq::Journeys&,
                                   const latseq::Print&);

struct LatseqPart {
  std::string_view to;
  std::string_view what;
  PrintPart print;
};

constexpr std::array kParts = {
    LatseqPart{"lseqj", "events", latseq::print_lseqj},
    LatseqPart{"latseq-json", "journeys", latseq::print_journeys},
    LatseqPart{"latseq-json", "points", latseq::print_points},
    LatseqPart{"latseq-json", "paths", latseq::print_paths},
    LatseqPart{"latseq-json", "stats", latseq::print_statistics},
    LatseqPart{"latseq-csv", "durations", latseq::print_durations},
    LatseqPart{"latseq-csv", "matrix", latseq::print_matrix},
};

Result<LatseqJourneys> rebuild_natively(const ExportRequest& request, pipeline::TraceInput& input) {
  trace::Reader& reader = input.reader();
  SJ_TRY(where, request.where.journeys(reader));
  ProgressLine line;
  SJ_TRY(recording, latseq::Recording::read(reader, line.progress()));
  latseq::NativeJourneys collector(recording, input.topology(), reader.schema());
  base::ThreadExecutor threads;
  pipeline::TracePass pass(threads, input);
  pass.observe(collector);
  if (where) pass.keep([&](const journeys::Journey& journey) { return (*where)(journey); });
  pass.show(line.progress());
  SJ_CHECK(pass.run());
  line.clear();
  if (collector.left_out() != 0)
    tell("{}: {} left out that LatSeq's tools would not read\n", reader.path(),
         counted(collector.left_out(), "way"));
  latseq::Journeys all = collector.finish();
  return LatseqJourneys{std::move(recording), std::move(all)};
}

}  // namespace

Result<void> export_latseq_lines(const ExportRequest& request, trace::Reader reader,
                                 const std::string& notice, const exports::Write& write) {
  SJ_TRY(script, request.script.start(reader, ScriptOption::Things::kEvents));
  SJ_TRY(where, request.where.events(reader));
  const model::WallClock clock(reader.clocks());
  if (!clock.known())
    return fail("{}: has no clock pairs, so LatSeq's times since 1970 are unknown", reader.path());
  latseq::LineWriter writer(reader.schema());
  const std::string name = reader.path().substr(reader.path().rfind('/') + 1);
  SJ_CHECK(write(writer.header(printable(name))));
  ProgressLine line;
  std::uint64_t left_out = 0;
  std::vector<std::uint32_t> rows;
  Result<void> written;
  base::ThreadExecutor threads;
  const auto write_batch = [&](const model::EventBatch& events) {
    select(where, events, rows);
    for (const std::uint32_t row : rows) {
      if (!written) break;
      const std::string& text = writer.line(events[row], clock.realtime_ns(events.ts_ns()[row]));
      if (text.empty())
        ++left_out;
      else
        written = write(text);
    }
    return written.has_value();
  };
  SJ_CHECK(pipeline::read_events(threads, reader,
                                 {.progress = line.progress(), .consume = write_batch}));
  SJ_CHECK(std::move(written));
  line.clear();
  if (left_out != 0)
    tell("{}: {} of the kernel and of queues left out: LatSeq has no line for them\n",
         reader.path(), counted(left_out, "event"));
  tell_if_not_whole(reader, notice);
  return script.finish();
}

Result<void> export_latseq(const ExportRequest& request, trace::Reader reader,
                           const std::string& notice, const exports::Write& write) {
  SJ_TRY(rules, request.rules.read());
  const auto part = std::ranges::find_if(kParts, [&](const LatseqPart& one) {
    return one.to == request.to && one.what == request.what;
  });
  if (!request.compat.empty()) {
    SJ_TRY(rebuilt, rebuild_as_latseq(reader, latseq_ends(rules)));
    SJ_CHECK(part->print(rebuilt.recording, rebuilt.all, write));
    tell_if_not_whole(reader, notice);
    return {};
  }
  SJ_TRY(input, derive_input(std::move(reader), rules));
  SJ_TRY(rebuilt, rebuild_natively(request, input));
  SJ_CHECK(part->print(rebuilt.recording, rebuilt.all, write));
  tell_if_not_whole(input.reader(), notice);
  return {};
}

}  // namespace sojourn::cli
