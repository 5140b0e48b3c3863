#include "analysis/page/page_engine.h"

#include <algorithm>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "analysis/base/executor.h"
#include "analysis/causes/explainer.h"
#include "analysis/causes/slowest_verdicts.h"
#include "analysis/filter/event_filter.h"
#include "analysis/filter/journey_filter.h"
#include "analysis/journeys/rules.h"
#include "analysis/model/links.h"
#include "analysis/page/journey_columns.h"
#include "analysis/page/latseq_trace.h"
#include "analysis/page/page_differences.h"
#include "analysis/page/page_timeline.h"
#include "analysis/page/piece_columns.h"
#include "analysis/pipeline/trace_input.h"
#include "analysis/pipeline/trace_marks.h"
#include "analysis/pipeline/trace_pass.h"
#include "analysis/present/causes/causes_content.h"
#include "analysis/present/journeys/journey_json.h"
#include "analysis/present/queues/queues_content.h"
#include "analysis/present/report/report_content.h"
#include "analysis/present/words/completeness_words.h"
#include "analysis/present/words/json_format.h"
#include "analysis/profile/sampled_work.h"
#include "analysis/queues/queue_survey.h"
#include "analysis/report/complete_latencies.h"
#include "analysis/report/groups.h"
#include "analysis/report/lateness_analysis.h"
#include "analysis/report/summary.h"
#include "analysis/report/trace_extras.h"
#include "analysis/trace/completeness.h"
#include "analysis/trace/reader.h"

namespace sojourn::page {

using nlohmann::json;
using nlohmann::ordered_json;

namespace {

constexpr std::size_t kMaxEvents = 10'000;
constexpr std::size_t kMaxChains = 10;
constexpr std::size_t kWorst = 20;

// A question's member of a type, or what stands for it where it is not there.
std::string text_of(const json& question, const char* name) {
  const auto found = question.find(name);
  return found != question.end() && found->is_string() ? found->get<std::string>() : std::string();
}

std::uint64_t number_of(const json& question, const char* name, std::uint64_t otherwise) {
  const auto found = question.find(name);
  return found != question.end() && found->is_number_unsigned() ? found->get<std::uint64_t>()
                                                                : otherwise;
}

// One journey, as text: its steps are valid only while it is told.
class OneJourney : public journeys::Observer {
 public:
  OneJourney(std::uint64_t id, const model::Schema& schema, present::CpuOfStream cpus)
      : id_(id), schema_(schema), cpus_(std::move(cpus)) {}

  void on_journey(const journeys::Journey& journey) override {
    if (journey.id == id_) found_ = present::journey_json(journey, schema_, cpus_);
  }
  bool wants_places() const override { return false; }
  const std::string& found() const { return found_; }

 private:
  std::uint64_t id_;
  const model::Schema& schema_;
  present::CpuOfStream cpus_;
  std::string found_;
};

}  // namespace

struct PageEngine::State {
  pipeline::TraceInput input;
  const trace::Reader& reader;
  PlainExecutor executor;

  explicit State(pipeline::TraceInput opened) : input(std::move(opened)), reader(input.reader()) {}

  std::uint64_t origin_ns() const { return pipeline::origin_ns(reader); }

  filter::BindContext surroundings() const {
    return {.origin_ns = origin_ns(),
            .streams = reader.streams(),
            .threads = profile::thread_names(reader.context())};
  }

  template <typename Filter>
  Result<std::optional<Filter>> compile(const std::string& where) const {
    if (where.empty()) return std::optional<Filter>();
    SJ_TRY(expression, filter::parse(where));
    SJ_TRY(made, Filter::compile(expression, reader.schema(), surroundings()));
    return std::optional<Filter>(std::move(made));
  }

  Result<ordered_json> report(const json& question, const pipeline::Progress& progress);
  Result<ordered_json> explain(const json& question, const pipeline::Progress& progress);
  Result<ordered_json> queues(const json& question, const pipeline::Progress& progress);
  Result<ordered_json> journeys(const json& question, AnswerSink& sink,
                                const pipeline::Progress& progress);
  Result<ordered_json> pieces(const json& question, AnswerSink& sink,
                              const pipeline::Progress& progress);
  Result<ordered_json> packet(const json& question, const pipeline::Progress& progress);
  Result<ordered_json> events(const json& question, const pipeline::Progress& progress);
  Result<ordered_json> timeline(const json& question, AnswerSink& sink,
                                const pipeline::Progress& progress);
  Result<ordered_json> what_differs(const json& question, const pipeline::Progress& progress);
  ordered_json machine() const;
};

Result<ordered_json> PageEngine::State::report(const json& question,
                                               const pipeline::Progress& progress) {
  const std::string expression = text_of(question, "where");
  SJ_TRY(where, compile<filter::JourneyFilter>(expression));
  report::Summary summary(input.topology(), reader.capture().open_ns,
                          report::TracingCost(reader.schema(), reader.capture()));
  report::TraceExtras extras(reader, input.topology());
  pipeline::TracePass pass(executor, input);
  pass.show(progress);
  if (where) pass.keep([&](const journeys::Journey& journey) { return (*where)(journey); });
  pass.observe(summary);
  pass.consume([&](const model::EventBatch& events) {
    extras.consume(events);
    return true;
  });
  SJ_TRY(totals, pass.run());
  const std::uint64_t end_ns = std::max(totals.last_ns, reader.capture().close_ns);
  summary.finish(end_ns);
  extras.finish(end_ns);
  const present::Facts facts = {reader.path(),
                                reader.schema(),
                                reader.targets(),
                                reader.host(),
                                reader.capture(),
                                reader.ledger(),
                                trace::completeness_of(reader)};
  present::ReportContent content = {facts, input.topology(), totals, summary};
  if (where)
    content.selection = {.where = expression,
                         .kept = pass.kept(),
                         .seen = pass.seen(),
                         .from_ns = where->span().from_ns,
                         .until_ns = where->span().until_ns};
  content.add(extras);
  return present::report_json(content);
}

Result<ordered_json> PageEngine::State::explain(const json& question,
                                                const pipeline::Progress& progress) {
  const std::string expression = text_of(question, "where");
  SJ_TRY(where, compile<filter::JourneyFilter>(expression));
  causes::Explainer::Wanted wanted;
  if (where) wanted = [&](const journeys::Journey& journey) { return (*where)(journey); };
  report::CompleteLatencies latencies(wanted);
  pipeline::TracePass pass(executor, input);
  pass.show([&](std::uint64_t done, std::uint64_t of) { progress(done, 2 * of); });
  pass.observe(latencies);
  SJ_CHECK(pass.run());
  const causes::Deadlines deadlines = latencies.deadlines();
  causes::SlowestVerdicts worst(kWorst);
  report::LatenessAnalysis analysis(input, deadlines, wanted,
                                    [&](const causes::Verdict& verdict) { worst.add(verdict); });
  SJ_CHECK(analysis.run(
      executor, [&](std::uint64_t done, std::uint64_t of) { progress(of + done, 2 * of); }));
  auto document = present::causes_json(
      {.path = reader.path(),
       .target = reader.target(),
       .schema = reader.schema(),
       .topology = input.topology(),
       .names = analysis.names(),
       .tally = analysis.tally(),
       .found = analysis.found(),
       .deadlines = deadlines,
       .where = expression,
       .missing = present::missing_evidence(reader.context(), !reader.queue_changes().empty()),
       .worst = std::move(worst).take()});
  document["file"] = present::completeness_json(trace::completeness_of(reader));
  return document;
}

Result<ordered_json> PageEngine::State::queues(const json& question,
                                               const pipeline::Progress& progress) {
  const std::string expression = text_of(question, "where");
  SJ_TRY(where, compile<filter::EventFilter>(expression));
  queues::ItemSelection selection;
  if (where)
    selection = {.wants = [&where](const model::EventView& event) { return (*where)(event); },
                 .from_ns = where->span().from_ns,
                 .until_ns = where->span().until_ns};
  queues::QueueSurvey survey(reader, input.topology(), selection,
                             profile::thread_names(reader.context()), false, {});
  pipeline::TracePass pass(executor, input);
  pass.show(progress);
  for (journeys::Observer* const observer : survey.observers()) pass.observe(*observer);
  pass.consume([&](const model::EventBatch& events) {
    survey.consume(events);
    return true;
  });
  SJ_TRY(totals, pass.run());
  survey.finish(totals.last_ns);
  const queues::PressureNet net = survey.pressure(true);
  return present::queues_json({.reader = reader,
                               .survey = survey,
                               .pressure = {.chains = net.chains(kMaxChains), .names = net.names()},
                               .origin_ns = origin_ns(),
                               .where = expression,
                               .has_depths = true});
}

Result<ordered_json> PageEngine::State::journeys(const json& question, AnswerSink& sink,
                                                 const pipeline::Progress& progress) {
  SJ_TRY(where, compile<filter::JourneyFilter>(text_of(question, "where")));
  const auto by = report::by_from(text_of(question, "by"));
  std::optional<report::Groups> groups;
  JourneyColumns::GroupOf group_of;
  if (by && !report::counts_events(*by) && !report::counts_stays(*by)) {
    groups.emplace(*by, reader.schema(), input.topology(), std::map<std::uint32_t, std::string>());
    group_of = [&](const journeys::Journey& journey) { return groups->name_of(journey); };
  }
  JourneyColumns columns(origin_ns(), std::move(group_of));
  pipeline::TracePass pass(executor, input);
  pass.show(progress);
  if (where) pass.keep([&](const journeys::Journey& journey) { return (*where)(journey); });
  pass.observe(columns);
  SJ_CHECK(pass.run());
  sink.column("id", columns.id);
  sink.column("start", columns.start);
  sink.column("latency", columns.latency);
  sink.column("direction", columns.direction);
  sink.column("outcome", columns.outcome);
  sink.column("segments", columns.segments);
  sink.column("repeats", columns.repeats);
  if (groups) sink.column("group", columns.group);
  return ordered_json{{"count", columns.id.size()}, {"groups", columns.groups}};
}

Result<ordered_json> PageEngine::State::pieces(const json& question, AnswerSink& sink,
                                               const pipeline::Progress& progress) {
  SJ_TRY(where, compile<filter::JourneyFilter>(text_of(question, "where")));
  PieceColumns columns(input.topology(), origin_ns());
  pipeline::TracePass pass(executor, input);
  pass.show(progress);
  if (where) pass.keep([&](const journeys::Journey& journey) { return (*where)(journey); });
  pass.observe(columns);
  SJ_CHECK(pass.run());
  sink.column("id", columns.id);
  sink.column("start", columns.start);
  sink.column("latency", columns.latency);
  sink.column("direction", columns.direction);
  return ordered_json{{"count", columns.id.size()}};
}

Result<ordered_json> PageEngine::State::packet(const json& question,
                                               const pipeline::Progress& progress) {
  const std::uint64_t id = number_of(question, "id", 0);
  present::CpuOfStream cpus;
  for (const model::Stream& stream : reader.streams()) cpus[stream.id] = stream.cpu;
  OneJourney one(id, reader.schema(), std::move(cpus));
  pipeline::TracePass pass(executor, input);
  pass.show([&](std::uint64_t done, std::uint64_t of) { progress(done, 2 * of); });
  pass.observe(one);
  pass.consume([&](const model::EventBatch&) { return one.found().empty(); });
  SJ_CHECK(pass.run());
  if (one.found().empty()) return fail("no journey has the number {}", id);

  std::optional<causes::Verdict> verdict;
  // Every packet is late that took longer than nothing.
  report::LatenessAnalysis analysis(
      input, {.down_ns = 0, .up_ns = 0},
      [&](const journeys::Journey& journey) { return journey.id == id; },
      [&](const causes::Verdict& found) { verdict = found; });
  SJ_CHECK(analysis.run(
      executor, [&](std::uint64_t done, std::uint64_t of) { progress(of + done, 2 * of); }));
  auto document = ordered_json{{"journey", ordered_json::parse(one.found(), nullptr, false)},
                               {"why", ""},
                               {"parts", ordered_json::array()}};
  const auto threads = profile::thread_names(reader.context());
  for (auto& event : document["journey"]["events"]) {
    const auto name = threads.find(event.value("tid", 0U));
    if (name != threads.end()) event["thread"] = name->second;
  }
  if (verdict) {
    auto told = present::causes_json({.path = reader.path(),
                                      .target = reader.target(),
                                      .schema = reader.schema(),
                                      .topology = input.topology(),
                                      .names = analysis.names(),
                                      .tally = analysis.tally(),
                                      .found = analysis.found(),
                                      .deadlines = {},
                                      .worst = {*verdict}});
    document["why"] = std::move(told["worst"][0]["why"]);
    document["parts"] = std::move(told["worst"][0]["parts"]);
  }
  return document;
}

Result<ordered_json> PageEngine::State::events(const json& question,
                                               const pipeline::Progress& progress) {
  SJ_TRY(where, compile<filter::EventFilter>(text_of(question, "where")));
  const std::size_t limit =
      std::min<std::size_t>(number_of(question, "limit", kMaxEvents), kMaxEvents);
  const auto threads = profile::thread_names(reader.context());
  const auto& points = reader.schema().points;
  auto shown = ordered_json::array();
  bool more = false;
  std::uint64_t done = 0;
  std::vector<std::uint32_t> rows;
  SJ_CHECK(input.reader().merge([&](const model::EventBatch& batch) {
    rows.clear();
    if (where)
      where->select(batch, rows);
    else
      for (std::uint32_t row = 0; row < batch.size(); ++row) rows.push_back(row);
    for (const std::uint32_t row : rows) {
      if (shown.size() == limit) {
        more = true;
        return false;
      }
      const model::EventView event = batch[row];
      const model::Point& point = points[event.point];
      const auto thread = threads.find(event.tid);
      auto values = ordered_json::object();
      for (std::size_t i = 0; i < point.fields.size(); ++i)
        if (!model::is_auxiliary_field(point.fields[i].name))
          values[point.fields[i].name] = event.values[i];
      shown.push_back({{"time_ns", static_cast<std::int64_t>(event.ts_ns - origin_ns())},
                       {"dir", std::string(1, letter(point.direction))},
                       {"point", point.name()},
                       {"tid", event.tid},
                       {"thread", thread != threads.end() ? thread->second
                                                          : fmt::format("thread {}", event.tid)},
                       {"values", std::move(values)}});
    }
    done += batch.size();
    progress(done, reader.events());
    return true;
  }));
  return ordered_json{{"events", std::move(shown)}, {"more", more}};
}

Result<ordered_json> PageEngine::State::timeline(const json& question, AnswerSink& sink,
                                                 const pipeline::Progress& progress) {
  std::optional<TimelineSpan> span;
  if (const std::uint64_t to = number_of(question, "to_ns", 0); to != 0)
    span = {.from_ns = origin_ns() + number_of(question, "from_ns", 0), .to_ns = origin_ns() + to};
  return page::timeline(input, span, sink, progress);
}

Result<ordered_json> PageEngine::State::what_differs(const json& question,
                                                     const pipeline::Progress& progress) {
  SJ_TRY(where, compile<filter::JourneyFilter>(text_of(question, "where")));
  SJ_TRY(slow, compile<filter::JourneyFilter>(text_of(question, "slow")));
  DifferenceQuestion asked = {.text = text_of(question, "slow"), .is_chosen = {}, .keep = {}};
  if (slow) asked.is_chosen = [&](const journeys::Journey& journey) { return (*slow)(journey); };
  if (where) asked.keep = [&](const journeys::Journey& journey) { return (*where)(journey); };
  return differences(executor, input, asked, progress);
}

ordered_json PageEngine::State::machine() const {
  const model::Host& host = reader.host();
  return {{"name", host.name},           {"kernel", host.kernel}, {"machine", host.machine},
          {"cpu_model", host.cpu_model}, {"cpus", host.cpus},     {"measured", host.measured}};
}

Result<PageEngine> PageEngine::open(std::unique_ptr<trace::ByteSource> source) {
  if (is_text(*source)) {
    SJ_TRY(imported, trace_of_latseq(std::move(source)));
    source = std::move(imported);
  }
  SJ_TRY(reader, trace::Reader::open(std::move(source)));
  if (reader.schema().points.empty())
    return fail("{}: cut or damaged before its points: no event in it can be read", reader.path());
  SJ_TRY(input, pipeline::TraceInput::create(std::move(reader), journeys::Rules()));
  return PageEngine(std::make_unique<State>(std::move(input)));
}

PageEngine::PageEngine(std::unique_ptr<State> state) : state_(std::move(state)) {}
PageEngine::PageEngine(PageEngine&&) noexcept = default;
PageEngine& PageEngine::operator=(PageEngine&&) noexcept = default;
PageEngine::~PageEngine() = default;

Result<std::string> PageEngine::answer(std::string_view question, AnswerSink& sink) {
  const json asked = json::parse(question, nullptr, false);
  if (!asked.is_object()) return fail("a question is a JSON object with the name of a call");
  const std::string call = text_of(asked, "call");
  const auto progress = [&](std::uint64_t done, std::uint64_t of) { sink.progress(done, of); };
  const auto text = [](Result<ordered_json> document) -> Result<std::string> {
    if (!document) return std::unexpected(std::move(document).error());
    return present::json_text(*document);
  };
  if (call == "report") return text(state_->report(asked, progress));
  if (call == "explain") return text(state_->explain(asked, progress));
  if (call == "differences") return text(state_->what_differs(asked, progress));
  if (call == "queues") return text(state_->queues(asked, progress));
  if (call == "journeys") return text(state_->journeys(asked, sink, progress));
  if (call == "pieces") return text(state_->pieces(asked, sink, progress));
  if (call == "packet") return text(state_->packet(asked, progress));
  if (call == "events") return text(state_->events(asked, progress));
  if (call == "timeline") return text(state_->timeline(asked, sink, progress));
  if (call == "machine") return text(state_->machine());
  return fail("no call is named {}", call.empty() ? "\"\"" : call);
}

}  // namespace sojourn::page
