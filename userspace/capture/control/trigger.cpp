#include "userspace/capture/control/trigger.h"

#include <algorithm>
#include <array>
#include <utility>
#include <variant>

#include "analysis/model/links.h"

namespace sojourn::capture {

namespace {

using Action = Trigger::Action;

constexpr std::array<std::pair<std::string_view, Action>, 5> kActions = {
    {{"dump", Action::kDump},
     {"start", Action::kStart},
     {"stop", Action::kStop},
     {"enable", Action::kEnable},
     {"disable", Action::kDisable}}};

std::string_view trimmed(std::string_view text) {
  while (text.starts_with(' ')) text.remove_prefix(1);
  while (text.ends_with(' ')) text.remove_suffix(1);
  return text;
}

bool switches(Action action) {
  return action == Action::kEnable || action == Action::kDisable;
}

Result<filter::EventFilter> compile_one(const Trigger& trigger, const model::Schema& schema,
                                        const filter::BindContext& around) {
  return filter::EventFilter::compile(trigger.expression, model::as_recorded(schema), around);
}

}  // namespace

Result<Trigger> parse_trigger(std::string_view words) {
  Trigger trigger;
  trigger.words = trimmed(words);
  std::string_view condition = trigger.words;
  // An expression has no colon, so the text before the first one is an action.
  if (const auto colon = condition.find(':'); colon != std::string_view::npos) {
    const std::string_view action = trimmed(condition.substr(0, colon));
    const auto space = action.find(' ');
    const auto known = std::ranges::find(kActions, action.substr(0, space),
                                         &std::pair<std::string_view, Action>::first);
    if (known == kActions.end())
      return fail(
          "\"{}\": \"{}\" is no action; there are dump, start, stop, enable and "
          "disable",
          trigger.words, action);
    trigger.action = known->second;
    if (space != std::string_view::npos) trigger.points = trimmed(action.substr(space));
    if (switches(trigger.action) == trigger.points.empty())
      return fail("\"{}\": enable and disable take a pattern of points, the others none",
                  trigger.words);
    condition = trimmed(condition.substr(colon + 1));
  }
  if (condition == "loss" || condition == "exit") {
    trigger.when = condition == "loss" ? Trigger::When::kLoss : Trigger::When::kExit;
    if (trigger.when == Trigger::When::kExit && trigger.action != Action::kDump)
      return fail("\"{}\": when the target exits, only a dump is possible", trigger.words);
    return trigger;
  }
  SJ_TRY(expression, filter::parse(condition));
  if (filter::is_about_journeys(expression)) trigger.when = Trigger::When::kJourney;
  trigger.expression = std::move(expression);
  return trigger;
}

Result<void> TriggerWatch::check(const std::vector<Trigger>& triggers,
                                 const model::Schema& schema) {
  for (const Trigger& trigger : triggers) {
    Result<void> checked;
    if (trigger.when == Trigger::When::kEvent)
      if (auto filter = compile_one(trigger, schema, {.streams = {}, .more_threads = true});
          !filter)
        checked = std::unexpected(std::move(filter).error());
    if (trigger.when == Trigger::When::kJourney)
      checked = JourneyWatch::check(trigger.expression, schema);
    if (!checked) return std::unexpected(std::move(checked).error().within("--trigger"));
  }
  return {};
}

TriggerWatch::TriggerWatch(std::vector<Trigger> triggers, const model::Schema& schema)
    : triggers_(std::move(triggers)), schema_(schema) {
  for (std::size_t index = 0; index < triggers_.size(); ++index)
    if (triggers_[index].when == Trigger::When::kEvent) conditions_.push_back({.trigger = index});
  std::vector<filter::Expression> on_journeys;
  std::vector<std::size_t> triggers_on_journeys;
  for (std::size_t index = 0; index < triggers_.size(); ++index) {
    if (triggers_[index].when != Trigger::When::kJourney) continue;
    on_journeys.push_back(triggers_[index].expression);
    triggers_on_journeys.push_back(index);
  }
  if (!on_journeys.empty())
    journeys_.emplace(std::move(on_journeys),
                      [this, of = std::move(triggers_on_journeys)](auto condition, auto end_ns) {
                        fire(of[condition], end_ns);
                      });
  compile();
}

// Compiles the conditions anew. One that has become ambiguous by a library's points stays as it
// was.
void TriggerWatch::compile() {
  for (Condition& condition : conditions_) {
    auto filter = compile_one(
        triggers_[condition.trigger], schema_,
        {.origin_ns = open_ns_, .streams = streams_, .threads = threads_, .more_threads = true});
    if (filter) condition.filter = std::move(*filter);
  }
  if (journeys_) journeys_->adapt(schema_);
}

// Learns names of threads, which come a little after their first events.
void TriggerWatch::learn(const model::Context& context) {
  const auto before = threads_;
  for (const model::ContextName& name : context.names)
    if (name.kind == model::NameKind::kThread)
      threads_[static_cast<std::uint32_t>(name.id)] = name.name;
  if (threads_ == before) return;
  if (journeys_) journeys_->know_threads(threads_);
  compile();
}

// Called before the first event, and again whenever the capture's record is written.
void TriggerWatch::begin(std::uint64_t open_ns) {
  if (std::exchange(open_ns_, open_ns) == open_ns) return;
  if (journeys_) journeys_->begin(open_ns);
  compile();
}

void TriggerWatch::look(const Item& item) {
  if (const auto* events = std::get_if<model::EventBatch>(&item)) look_at(*events);
  if (const auto* schema = std::get_if<model::Schema>(&item)) {
    schema_ = *schema;
    compile();
  }
  if (const auto* stream = std::get_if<model::Stream>(&item)) {
    streams_.push_back(*stream);
    for (Condition& condition : conditions_)
      if (condition.filter) condition.filter->add_stream(*stream);
    if (journeys_) journeys_->add_stream(*stream);
  }
  if (const auto* context = std::get_if<model::Context>(&item)) learn(*context);
  if (const auto* target = std::get_if<model::Target>(&item); target != nullptr && journeys_)
    journeys_->add_target(*target);
  if (const auto* about = std::get_if<model::Capture>(&item)) begin(about->open_ns);
}

void TriggerWatch::advance(std::uint64_t watermark_ns) {
  if (!journeys_) return;
  journeys_->advance(watermark_ns);
  left_out_ = journeys_->left_out();
}

void TriggerWatch::look_at(const model::EventBatch& events) {
  for (Condition& condition : conditions_) {
    if (!condition.filter) continue;
    rows_.clear();
    condition.filter->select(events, rows_);
    if (!rows_.empty()) fire(condition.trigger, events.ts_ns()[rows_.front()]);
  }
  if (!journeys_) return;
  if (hurry_)
    journeys_->skip(events);
  else
    journeys_->take(events);
}

void TriggerWatch::fire(std::size_t trigger, std::uint64_t ts_ns) {
  const std::scoped_lock lock(mutex_);
  if (std::ranges::find(fired_, trigger, &Fired::trigger) == fired_.end())
    fired_.push_back({.trigger = trigger, .ts_ns = ts_ns});
}

std::vector<Fired> TriggerWatch::take_fired() {
  const std::scoped_lock lock(mutex_);
  return std::exchange(fired_, {});
}

bool TriggerWatch::has_fired() const {
  const std::scoped_lock lock(mutex_);
  return !fired_.empty();
}

}  // namespace sojourn::capture
