#include "analysis/page/page_engine.h"

#include <map>
#include <optional>
#include <utility>
#include <vector>

#include <nlohmann/json.hpp>

#include "analysis/base/executor.h"
#include "analysis/filter/event_filter.h"
#include "analysis/filter/journey_filter.h"
#include "analysis/filter/thread_filter.h"
#include "analysis/journeys/rules.h"
#include "analysis/page/distribution_curves.h"
#include "analysis/page/journey_columns.h"
#include "analysis/page/latseq_trace.h"
#include "analysis/page/packet_ids.h"
#include "analysis/page/page_comparison.h"
#include "analysis/page/page_differences.h"
#include "analysis/page/page_events.h"
#include "analysis/page/page_groups.h"
#include "analysis/page/page_packet.h"
#include "analysis/page/page_profile.h"
#include "analysis/page/page_report.h"
#include "analysis/page/page_timeline.h"
#include "analysis/page/piece_columns.h"
#include "analysis/page/trace_facts.h"
#include "analysis/page/trace_windows.h"
#include "analysis/pipeline/trace_input.h"
#include "analysis/pipeline/trace_marks.h"
#include "analysis/pipeline/trace_pass.h"
#include "analysis/present/queues/queues_content.h"
#include "analysis/present/words/json_format.h"
#include "analysis/profile/sampled_work.h"
#include "analysis/queues/queue_survey.h"
#include "analysis/report/groups.h"
#include "analysis/trace/reader.h"

namespace sojourn::page {

using nlohmann::json;
using nlohmann::ordered_json;

namespace {

constexpr std::size_t kMaxChains = 10;

// Returns a member of a question, or an empty text if the question has no such text.
std::string text_of(const json& question, const char* name) {
  const auto found = question.find(name);
  return found != question.end() && found->is_string() ? found->get<std::string>() : std::string();
}

std::uint64_t number_of(const json& question, const char* name, std::uint64_t otherwise) {
  const auto found = question.find(name);
  return found != question.end() && found->is_number_unsigned() ? found->get<std::uint64_t>()
                                                                : otherwise;
}

std::vector<std::uint64_t> ids_of(const json& question) {
  std::vector<std::uint64_t> ids;
  for (const json& id : question.value("ids", json::array()))
    if (id.is_number_unsigned()) ids.push_back(id.get<std::uint64_t>());
  return ids;
}

// The columns that packets and their pieces both have.
template <typename Columns>
void send_latencies(const Columns& columns, AnswerSink& sink) {
  sink.column("id", columns.id);
  sink.column("start", columns.start);
  sink.column("latency", columns.latency);
  sink.column("direction", columns.direction);
}

}  // namespace

struct PageEngine::State {
  pipeline::TraceInput input;
  const trace::Reader& reader;
  PlainExecutor executor;
  PacketTeller packets;

  explicit State(pipeline::TraceInput opened) : input(std::move(opened)), reader(input.reader()) {
    input.try_together(true);
  }

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

  // Passes the journeys that the question's filter selects to the observer.
  Result<void> tell(const json& question, journeys::Observer& observer,
                    const pipeline::Progress& progress);
  // Calls `answer` with the packets that the question's filter selects.
  template <typename Answer>
  Result<ordered_json> of_packets(const json& question, const Answer& answer);
  Result<ordered_json> queues(const json& question, const pipeline::Progress& progress);
  Result<ordered_json> journeys(const json& question, AnswerSink& sink,
                                const pipeline::Progress& progress);
  Result<ordered_json> pieces(const json& question, AnswerSink& sink,
                              const pipeline::Progress& progress);
  Result<ordered_json> packet(const json& question, const pipeline::Progress& progress);
  Result<ordered_json> some_packets(const json& question, const pipeline::Progress& progress);
  Result<ordered_json> groups(const json& question, const pipeline::Progress& progress);
  Result<ordered_json> windows(const json& question, AnswerSink& sink,
                               const pipeline::Progress& progress);
  Result<ordered_json> events(const json& question, const pipeline::Progress& progress);
  Result<ordered_json> timeline(const json& question, AnswerSink& sink,
                                const pipeline::Progress& progress);
  Result<ordered_json> what_differs(const json& question, const pipeline::Progress& progress);
  Result<ordered_json> profiled(const json& question, const pipeline::Progress& progress);
};

template <typename Answer>
Result<ordered_json> PageEngine::State::of_packets(const json& question, const Answer& answer) {
  const std::string expression = text_of(question, "where");
  SJ_TRY(where, compile<filter::JourneyFilter>(expression));
  return answer(PacketSelection{.text = expression, .filter = where ? &*where : nullptr});
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

Result<void> PageEngine::State::tell(const json& question, journeys::Observer& observer,
                                     const pipeline::Progress& progress) {
  SJ_TRY(where, compile<filter::JourneyFilter>(text_of(question, "where")));
  pipeline::TracePass pass(executor, input);
  pass.show(progress);
  if (where) pass.keep([&](const journeys::Journey& journey) { return (*where)(journey); });
  pass.observe(observer);
  SJ_CHECK(pass.run());
  return {};
}

Result<ordered_json> PageEngine::State::journeys(const json& question, AnswerSink& sink,
                                                 const pipeline::Progress& progress) {
  const auto by = report::by_from(text_of(question, "by"));
  std::optional<report::Groups> groups;
  JourneyColumns::GroupOf group_of;
  if (by && !report::counts_events(*by) && !report::counts_stays(*by)) {
    groups.emplace(*by, reader.schema(), input.topology(), std::map<std::uint32_t, std::string>());
    group_of = [&](const journeys::Journey& journey) { return groups->name_of(journey); };
  }
  JourneyColumns columns(origin_ns(), std::move(group_of));
  SJ_CHECK(tell(question, columns, progress));
  send_latencies(columns, sink);
  sink.column("outcome", columns.outcome);
  sink.column("segments", columns.segments);
  sink.column("repeats", columns.repeats);
  if (groups) {
    sink.column("group", columns.group);
    send_curves(columns, sink);
  }
  return ordered_json{{"count", columns.id.size()}, {"groups", columns.groups}};
}

Result<ordered_json> PageEngine::State::pieces(const json& question, AnswerSink& sink,
                                               const pipeline::Progress& progress) {
  PieceColumns columns(input.topology(), origin_ns());
  SJ_CHECK(tell(question, columns, progress));
  send_latencies(columns, sink);
  return ordered_json{{"count", columns.id.size()}};
}

Result<ordered_json> PageEngine::State::packet(const json& question,
                                               const pipeline::Progress& progress) {
  SJ_TRY(told, packets.tell(executor, input, {number_of(question, "id", 0)}, progress));
  return std::move(told.front());
}

Result<ordered_json> PageEngine::State::some_packets(const json& question,
                                                     const pipeline::Progress& progress) {
  SJ_TRY(told, packets.tell(executor, input, ids_of(question), progress));
  return ordered_json{{"packets", std::move(told)}};
}

Result<ordered_json> PageEngine::State::groups(const json& question,
                                               const pipeline::Progress& progress) {
  const auto by = report::by_from(text_of(question, "by"));
  if (!by || report::counts_events(*by)) return fail("packets have no groups of that name");
  return of_packets(question, [&](const PacketSelection& selection) {
    return groups_of(executor, input, *by, selection, progress);
  });
}

Result<ordered_json> PageEngine::State::windows(const json& question, AnswerSink& sink,
                                                const pipeline::Progress& progress) {
  std::vector<Window> wanted;
  for (const json& one : question.value("windows", json::array()))
    wanted.push_back(
        {.from_ns = number_of(one, "from_ns", 0), .to_ns = number_of(one, "to_ns", 0)});
  SJ_TRY(bytes, trace_of_windows(input.reader(), std::move(wanted), progress));
  sink.column("trace", bytes);
  return ordered_json::object();
}

Result<ordered_json> PageEngine::State::events(const json& question,
                                               const pipeline::Progress& progress) {
  SJ_TRY(where, compile<filter::EventFilter>(text_of(question, "where")));
  return first_events(input, where ? &*where : nullptr, number_of(question, "limit", kMostEvents),
                      progress);
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

Result<ordered_json> PageEngine::State::profiled(const json& question,
                                                 const pipeline::Progress& progress) {
  profile::SampledWork::SampleFilter wanted;
  std::map<std::uint32_t, std::int32_t> cpus;
  std::optional<filter::ThreadFilter> where;
  if (const std::string text = text_of(question, "where"); !text.empty()) {
    SJ_TRY(expression, filter::parse(text));
    SJ_TRY(made, filter::ThreadFilter::compile(expression, surroundings()));
    where = std::move(made);
    for (const model::Stream& stream : reader.streams()) cpus[stream.id] = stream.cpu;
    wanted = [&](const model::EventView& sample) {
      const auto cpu = cpus.find(sample.stream);
      return (*where)(sample.tid, cpu == cpus.end() ? -1 : cpu->second, sample.ts_ns);
    };
  }
  return profile_of(executor, input, std::move(wanted), progress);
}

// One filter selects packets of both traces; it is compiled for the points of each.
Result<ordered_json> PageEngine::compare(const json& question, const pipeline::Progress& progress) {
  if (!other_) return fail("there is no second trace to compare with");
  const std::string expression = text_of(question, "where");
  SJ_TRY(of_base, state_->compile<filter::JourneyFilter>(expression));
  SJ_TRY(of_now, other_->compile<filter::JourneyFilter>(expression));
  const auto side = [](State& state, const std::optional<filter::JourneyFilter>& where) {
    ComparedTrace compared = {.input = state.input, .wanted = {}};
    if (where)
      compared.wanted = [&where](const journeys::Journey& journey) { return (*where)(journey); };
    return compared;
  };
  return comparison(state_->executor, side(*state_, of_base), side(*other_, of_now), progress);
}

Result<std::unique_ptr<PageEngine::State>> PageEngine::opened(
    std::unique_ptr<trace::ByteSource> source) {
  if (is_text(*source)) {
    SJ_TRY(imported, trace_of_latseq(std::move(source)));
    source = std::move(imported);
  }
  SJ_TRY(reader, trace::Reader::open(std::move(source)));
  if (reader.schema().points.empty())
    return fail("{}: cut or damaged before its points: no event in it can be read", reader.path());
  SJ_TRY(input, pipeline::TraceInput::create(std::move(reader), journeys::Rules()));
  return std::make_unique<State>(std::move(input));
}

Result<PageEngine> PageEngine::open(std::unique_ptr<trace::ByteSource> source) {
  SJ_TRY(state, opened(std::move(source)));
  return PageEngine(std::move(state));
}

Result<void> PageEngine::compare_with(std::unique_ptr<trace::ByteSource> source) {
  SJ_TRY(state, opened(std::move(source)));
  other_ = std::move(state);
  return {};
}

PageEngine::PageEngine(std::unique_ptr<State> state) : state_(std::move(state)) {}
PageEngine::PageEngine(PageEngine&&) noexcept = default;
PageEngine& PageEngine::operator=(PageEngine&&) noexcept = default;
PageEngine::~PageEngine() = default;

// Where a trace turns out to have too many units for one rebuilder of both directions, the question
// is answered again with one of each, as all later ones are.
Result<std::string> PageEngine::answer(std::string_view question, AnswerSink& sink) {
  const auto together = [this] {
    return state_->input.tries_together() + (other_ && other_->input.tries_together() ? 1 : 0);
  };
  for (int before = together();;) {
    auto answered = answer_once(question, sink);
    const int now = together();
    if (answered || now == before) return answered;
    before = now;
  }
}

Result<std::string> PageEngine::answer_once(std::string_view question, AnswerSink& sink) {
  const json asked = json::parse(question, nullptr, false);
  if (!asked.is_object()) return fail("a question is a JSON object with the name of a call");
  const std::string call = text_of(asked, "call");
  const auto progress = [&](std::uint64_t done, std::uint64_t of) { sink.progress(done, of); };
  const auto text = [](Result<ordered_json> document) -> Result<std::string> {
    if (!document) return std::unexpected(std::move(document).error());
    return present::json_text(*document);
  };
  if (call == "compare") return text(compare(asked, progress));
  State* const state = number_of(asked, "trace", 0) == 0 ? state_.get() : other_.get();
  if (state == nullptr) return fail("there is no second trace");
  const auto of_packets = [&](const auto& answer) {
    return text(state->of_packets(asked, [&](const PacketSelection& selection) {
      return answer(state->executor, state->input, selection, progress);
    }));
  };
  if (call == "about") return text(about_of(state->reader));
  if (call == "first screen")
    return text(state->of_packets(asked, [&](const PacketSelection& selection) {
      return first_screen(state->executor, state->input, selection, sink, progress);
    }));
  if (call == "summarised screen")
    return text(summarised_screen(state->executor, state->input, progress));
  if (call == "report") return of_packets(report_of);
  if (call == "explain") return of_packets(explanation_of);
  if (call == "differences") return text(state->what_differs(asked, progress));
  if (call == "queues") return text(state->queues(asked, progress));
  if (call == "journeys") return text(state->journeys(asked, sink, progress));
  if (call == "pieces") return text(state->pieces(asked, sink, progress));
  if (call == "packet") return text(state->packet(asked, progress));
  if (call == "packets") return text(state->some_packets(asked, progress));
  if (call == "ids")
    return text(ids_of_packets(state->executor, state->input, ids_of(asked), progress));
  if (call == "groups") return text(state->groups(asked, progress));
  if (call == "windows") return text(state->windows(asked, sink, progress));
  if (call == "events") return text(state->events(asked, progress));
  if (call == "timeline") return text(state->timeline(asked, sink, progress));
  if (call == "profile") return text(state->profiled(asked, progress));
  if (call == "machine") return text(machine_of(state->reader));
  if (call == "names") return text(names_of(state->reader));
  return fail("no call is named {}", call.empty() ? "\"\"" : call);
}

}  // namespace sojourn::page
