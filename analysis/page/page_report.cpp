#include "analysis/page/page_report.h"

#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

#include <nlohmann/json.hpp>

#include "analysis/causes/explainer.h"
#include "analysis/causes/slowest_verdicts.h"
#include "analysis/page/journey_columns.h"
#include "analysis/page/screen_summary.h"
#include "analysis/pipeline/filtering_observer.h"
#include "analysis/pipeline/observer_list.h"
#include "analysis/pipeline/trace_marks.h"
#include "analysis/present/causes/causes_content.h"
#include "analysis/present/report/report_content.h"
#include "analysis/present/words/completeness_words.h"
#include "analysis/report/complete_latencies.h"
#include "analysis/report/guessed_lateness.h"
#include "analysis/report/lateness_analysis.h"
#include "analysis/report/summary.h"
#include "analysis/report/trace_extras.h"
#include "analysis/trace/completeness.h"
#include "analysis/trace/reader.h"

namespace sojourn::page {

using nlohmann::ordered_json;

namespace {

constexpr std::size_t kWorst = 20;

causes::Explainer::Wanted wanted_by(const PacketSelection& selection) {
  if (selection.filter == nullptr) return {};
  return
      [filter = selection.filter](const journeys::Journey& journey) { return (*filter)(journey); };
}

// The observers that gather a report's figures in a pass.
struct ReportFigures {
  explicit ReportFigures(const pipeline::TraceInput& input)
      : summary(input.topology(), input.reader().capture().open_ns,
                report::TracingCost(input.reader().schema(), input.reader().capture())),
        extras(input.reader(), input.topology()) {}

  report::Summary summary;
  report::TraceExtras extras;
  std::uint64_t kept = 0;  // packets that are selected
  std::uint64_t seen = 0;
};

ordered_json report_document(const pipeline::TraceInput& input, const PacketSelection& selection,
                             ReportFigures& figures, const journeys::Totals& totals) {
  const trace::Reader& reader = input.reader();
  const std::uint64_t end_ns = std::max(totals.last_ns, reader.capture().close_ns);
  figures.summary.finish(end_ns);
  figures.extras.finish(end_ns);
  const present::Facts facts = {reader.path(),
                                reader.schema(),
                                reader.targets(),
                                reader.host(),
                                reader.capture(),
                                reader.ledger(),
                                trace::completeness_of(reader)};
  present::ReportContent content = {facts, input.topology(), totals, figures.summary};
  if (selection.filter != nullptr)
    content.selection = {.where = selection.text,
                         .kept = figures.kept,
                         .seen = figures.seen,
                         .from_ns = selection.filter->span().from_ns,
                         .until_ns = selection.filter->span().until_ns};
  content.add(figures.extras);
  return present::report_json(content);
}

// `lateness` is a LatenessAnalysis or a GuessedLateness whose pass has ended.
template <typename Lateness>
ordered_json explanation_document(const pipeline::TraceInput& input,
                                  const PacketSelection& selection, const Lateness& lateness,
                                  const causes::Deadlines& deadlines,
                                  const std::vector<causes::Verdict>& worst) {
  const trace::Reader& reader = input.reader();
  auto document = present::causes_json(
      {.path = reader.path(),
       .target = reader.target(),
       .schema = reader.schema(),
       .topology = input.topology(),
       .names = lateness.names(),
       .tally = lateness.tally(),
       .found = lateness.found(),
       .deadlines = deadlines,
       .where = selection.text,
       .missing = present::missing_evidence(reader.context(), !reader.queue_changes().empty()),
       .worst = worst});
  document["file"] = present::completeness_json(trace::completeness_of(reader));
  return document;
}

// Explains the packets that are slower than the deadlines, in a pass over the trace. The pass
// counts as the second half of `progress`.
Result<ordered_json> explanation_by(Executor& executor, pipeline::TraceInput& input,
                                    const PacketSelection& selection,
                                    const causes::Deadlines& deadlines,
                                    const pipeline::Progress& progress) {
  causes::SlowestVerdicts worst(kWorst);
  report::LatenessAnalysis analysis(input, deadlines, wanted_by(selection),
                                    [&](const causes::Verdict& verdict) { worst.add(verdict); });
  SJ_CHECK(analysis.run(
      executor, [&](std::uint64_t done, std::uint64_t of) { progress(of + done, 2 * of); }));
  return explanation_document(input, selection, analysis, deadlines, std::move(worst).take());
}

void give(AnswerSink& sink, const JourneyColumns& columns) {
  sink.column("id", columns.id);
  sink.column("start", columns.start);
  sink.column("latency", columns.latency);
  sink.column("direction", columns.direction);
  sink.column("outcome", columns.outcome);
}

}  // namespace

Result<ordered_json> report_of(Executor& executor, pipeline::TraceInput& input,
                               const PacketSelection& selection,
                               const pipeline::Progress& progress) {
  ReportFigures figures(input);
  pipeline::TracePass pass(executor, input);
  pass.show(progress);
  if (selection.filter != nullptr) pass.keep(wanted_by(selection));
  pass.observe(figures.summary);
  pass.consume([&](const model::EventBatch& events) {
    figures.extras.consume(events);
    return true;
  });
  SJ_TRY(totals, pass.run());
  figures.kept = pass.kept();
  figures.seen = pass.seen();
  return report_document(input, selection, figures, totals);
}

Result<ordered_json> explanation_of(Executor& executor, pipeline::TraceInput& input,
                                    const PacketSelection& selection,
                                    const pipeline::Progress& progress) {
  report::CompleteLatencies latencies(wanted_by(selection));
  pipeline::TracePass pass(executor, input);
  pass.show([&](std::uint64_t done, std::uint64_t of) { progress(done, 2 * of); });
  pass.observe(latencies);
  SJ_CHECK(pass.run());
  return explanation_by(executor, input, selection, latencies.deadlines(), progress);
}

namespace {

// Returns the report and the explanation. The packets that are selected also go to `packets`.
Result<ordered_json> screen_of(Executor& executor, pipeline::TraceInput& input,
                               const PacketSelection& selection, journeys::Observer& packets,
                               const pipeline::Progress& progress) {
  ReportFigures figures(input);
  pipeline::ObserverList all({&figures.summary, &packets});
  // Three observers ask one after the other whether a packet is wanted; the filter runs once.
  std::optional<std::uint64_t> last;
  bool was_wanted = false;
  causes::Explainer::Wanted wanted;
  if (selection.filter != nullptr)
    wanted = [&](const journeys::Journey& journey) {
      if (last != journey.id) was_wanted = (*selection.filter)(journey);
      last = journey.id;
      return was_wanted;
    };
  pipeline::FilteringObserver some(all, input.topology(), wanted);
  report::GuessedLateness lateness(input, wanted, kWorst);
  pipeline::TracePass pass(executor, input);
  pass.show(progress);
  // Each list in between costs calls for each event.
  if (wanted) {
    pass.observe(some);
  } else {
    pass.observe(figures.summary);
    pass.observe(packets);
  }
  lateness.observe(pass);
  pass.consume([&](const model::EventBatch& events) {
    lateness.consume(events);
    figures.extras.consume(events);
    return true;
  });
  SJ_TRY(totals, pass.run());
  figures.kept = some.kept();
  figures.seen = some.seen();
  auto document = ordered_json{{"report", report_document(input, selection, figures, totals)}};
  if (lateness.finish()) {
    const causes::Deadlines deadlines = lateness.deadlines();
    document["explanation"] =
        explanation_document(input, selection, lateness, deadlines, lateness.take_worst());
    return document;
  }
  SJ_TRY(explained, explanation_by(executor, input, selection, lateness.deadlines(), progress));
  document["explanation"] = std::move(explained);
  return document;
}

}  // namespace

Result<ordered_json> first_screen(Executor& executor, pipeline::TraceInput& input,
                                  const PacketSelection& selection, AnswerSink& sink,
                                  const pipeline::Progress& progress) {
  JourneyColumns columns(pipeline::origin_ns(input.reader()), {});
  SJ_TRY(document, screen_of(executor, input, selection, columns, progress));
  document["count"] = columns.id.size();
  give(sink, columns);
  return document;
}

Result<ordered_json> summarised_screen(Executor& executor, pipeline::TraceInput& input,
                                       const pipeline::Progress& progress) {
  ScreenSummary packets(pipeline::origin_ns(input.reader()));
  SJ_TRY(document, screen_of(executor, input, {}, packets, progress));
  document["packets"] = packets.count();
  document["grid"] = packets.grid();
  document["slowest"] = packets.slowest();
  return document;
}

}  // namespace sojourn::page
