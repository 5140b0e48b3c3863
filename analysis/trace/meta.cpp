#include "analysis/trace/meta.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "analysis/trace/meta_json.h"

namespace sojourn::trace {

std::string to_json(const model::Schema& schema) {
  json points = json::array();
  for (const model::Point& point : schema.points) {
    json fields = json::array();
    for (const model::Field& field : point.fields) {
      fields.push_back({{"name", field.name},
                        {"role", name(field.role)},
                        {"bytes", field.bytes},
                        {"signed", field.is_signed}});
      if (field.is_address) fields.back()["address"] = true;
    }
    points.push_back({{"dir", std::string(1, letter(point.direction))},
                      {"src", point.src},
                      {"dest", point.dest},
                      {"file", point.file},
                      {"fields", std::move(fields)}});
  }
  return dump({{"points", std::move(points)}});
}

namespace {

Result<model::Field> read_field(const json& object) {
  if (!object.is_object()) return fail("a field is not an object");
  model::Field field;
  std::string role = "property";
  SJ_CHECK(read_member(object, "name", field.name));
  SJ_CHECK(read_member(object, "role", role));
  SJ_CHECK(read_member(object, "bytes", field.bytes));
  SJ_CHECK(read_member(object, "signed", field.is_signed));
  SJ_CHECK(read_member(object, "address", field.is_address));
  const auto known = model::role_from_name(role);
  if (!known) return fail("a field's role is \"{}\"", role);
  field.role = *known;
  return field;
}

Result<model::Point> read_point(const json& object) {
  if (!object.is_object()) return fail("a point is not an object");
  model::Point point;
  std::string direction;
  SJ_CHECK(read_member(object, "dir", direction));
  SJ_CHECK(read_member(object, "src", point.src));
  SJ_CHECK(read_member(object, "dest", point.dest));
  SJ_CHECK(read_member(object, "file", point.file));
  const auto known =
      direction.size() == 1 ? model::direction_from_letter(direction[0]) : std::nullopt;
  if (!known) return fail("a point's direction is \"{}\"", direction);
  point.direction = *known;
  const auto fields = object.find("fields");
  if (fields == object.end() || !fields->is_array() || fields->size() > model::kMaxFields)
    return fail("a point has no list of at most {} fields", model::kMaxFields);
  for (const json& item : *fields) {
    SJ_TRY(field, read_field(item));
    point.fields.push_back(std::move(field));
  }
  SJ_CHECK(model::check(point));
  return point;
}

}  // namespace

Result<void> from_json(std::span<const std::uint8_t> text, model::Schema& schema) {
  SJ_TRY(object, parse_object(text));
  const auto points = object.find("points");
  if (points == object.end() || !points->is_array())
    return fail("the schema has no list of points");
  if (points->size() > model::kMaxPoints) return fail("the schema has {} points", points->size());
  model::Schema read;
  for (const json& item : *points) {
    SJ_TRY(point, read_point(item));
    read.points.push_back(std::move(point));
  }
  schema = std::move(read);
  return {};
}

std::string to_json(const model::Target& target) {
  return dump({{"pid", target.pid},
               {"name", target.name},
               {"exe", target.exe},
               {"cmdline", target.cmdline},
               {"build_id", target.build_id},
               {"parent", target.parent},
               {"since_ns", target.since_ns},
               {"until_ns", target.until_ns}});
}

Result<void> from_json(std::span<const std::uint8_t> text, model::Target& target) {
  SJ_TRY(object, parse_object(text));
  model::Target read;
  SJ_CHECK(read_member(object, "pid", read.pid));
  SJ_CHECK(read_member(object, "name", read.name));
  SJ_CHECK(read_member(object, "exe", read.exe));
  SJ_CHECK(read_member(object, "cmdline", read.cmdline));
  SJ_CHECK(read_member(object, "build_id", read.build_id));
  SJ_CHECK(read_member(object, "parent", read.parent));
  SJ_CHECK(read_member(object, "since_ns", read.since_ns));
  SJ_CHECK(read_member(object, "until_ns", read.until_ns));
  target = std::move(read);
  return {};
}

std::string to_json(const model::Host& host) {
  return dump({{"name", host.name},
               {"kernel", host.kernel},
               {"machine", host.machine},
               {"cpu_model", host.cpu_model},
               {"cpus", host.cpus}});
}

Result<void> from_json(std::span<const std::uint8_t> text, model::Host& host) {
  SJ_TRY(object, parse_object(text));
  model::Host read;
  SJ_CHECK(read_member(object, "name", read.name));
  SJ_CHECK(read_member(object, "kernel", read.kernel));
  SJ_CHECK(read_member(object, "machine", read.machine));
  SJ_CHECK(read_member(object, "cpu_model", read.cpu_model));
  SJ_CHECK(read_member(object, "cpus", read.cpus));
  host = std::move(read);
  return {};
}

namespace {

std::optional<model::Engine> engine_from_name(std::string_view text) {
  for (const model::Engine engine :
       {model::Engine::kBpf, model::Engine::kRing, model::Engine::kImport, model::Engine::kKernel,
        model::Engine::kSampler})
    if (name(engine) == text) return engine;
  return std::nullopt;
}

Result<void> read_engine(const json& object, model::Engine& into) {
  std::string text(name(into));
  SJ_CHECK(read_member(object, "engine", text));
  const auto known = engine_from_name(text);
  if (!known) return fail("the engine is \"{}\"", text);
  into = *known;
  return {};
}

}  // namespace

std::string to_json(const model::Stream& stream) {
  return dump({{"id", stream.id},
               {"engine", name(stream.engine)},
               {"cpu", stream.cpu},
               {"tid", stream.tid},
               {"pid", stream.pid}});
}

Result<void> from_json(std::span<const std::uint8_t> text, model::Stream& stream) {
  SJ_TRY(object, parse_object(text));
  model::Stream read;
  SJ_CHECK(read_member(object, "id", read.id));
  SJ_CHECK(read_engine(object, read.engine));
  SJ_CHECK(read_member(object, "cpu", read.cpu));
  SJ_CHECK(read_member(object, "tid", read.tid));
  SJ_CHECK(read_member(object, "pid", read.pid));
  stream = read;
  return {};
}

std::string to_json(const model::ClockPair& clock) {
  return dump({{"monotonic_ns", clock.monotonic_ns},
               {"realtime_ns", clock.realtime_ns},
               {"tai_ns", clock.tai_ns},
               {"error_ns", clock.error_ns}});
}

Result<void> from_json(std::span<const std::uint8_t> text, model::ClockPair& clock) {
  SJ_TRY(object, parse_object(text));
  model::ClockPair read;
  SJ_CHECK(read_member(object, "monotonic_ns", read.monotonic_ns));
  SJ_CHECK(read_member(object, "realtime_ns", read.realtime_ns));
  SJ_CHECK(read_member(object, "tai_ns", read.tai_ns));
  SJ_CHECK(read_member(object, "error_ns", read.error_ns));
  clock = read;
  return {};
}

std::string to_json(const model::Capture& capture) {
  json shed = json::array();
  for (const model::ShedSpan& span : capture.shed)
    shed.push_back({{"point", span.point}, {"from_ns", span.from_ns}, {"until_ns", span.until_ns}});
  json unarmed = json::array();
  for (const model::UnarmedSpan& span : capture.unarmed)
    unarmed.push_back({{"pid", span.pid},
                       {"point", span.point},
                       {"from_ns", span.from_ns},
                       {"until_ns", span.until_ns}});
  json object = {{"tracer", capture.tracer},
                 {"engine", name(capture.engine)},
                 {"attach", capture.attach},
                 {"sites", capture.sites},
                 {"open_ns", capture.open_ns},
                 {"close_ns", capture.close_ns},
                 {"ended_by", capture.ended_by},
                 {"stream_hits", capture.stream_hits},
                 {"stream_first", capture.stream_first},
                 {"tracer_cpu_ns", capture.tracer_cpu_ns},
                 {"target_cpu_ns", capture.target_cpu_ns},
                 {"stamp_error_ns", capture.stamp_error_ns},
                 {"stamp_delay_ns", capture.stamp_delay_ns},
                 {"tracer_rss_bytes", capture.tracer_rss_bytes},
                 {"longest_starved_ns", capture.longest_starved_ns},
                 {"hit_cost_ps", capture.hit_cost_ps},
                 {"shed", std::move(shed)},
                 {"unarmed", std::move(unarmed)}};
  if (!capture.unplaced.empty()) object["unplaced"] = capture.unplaced;
  return dump(object);
}

namespace {

Result<void> read_span(const json& item, model::ShedSpan& span) {
  SJ_CHECK(read_member(item, "point", span.point));
  SJ_CHECK(read_member(item, "from_ns", span.from_ns));
  return read_member(item, "until_ns", span.until_ns);
}

Result<void> read_span(const json& item, model::UnarmedSpan& span) {
  SJ_CHECK(read_member(item, "pid", span.pid));
  SJ_CHECK(read_member(item, "point", span.point));
  SJ_CHECK(read_member(item, "from_ns", span.from_ns));
  return read_member(item, "until_ns", span.until_ns);
}

template <typename Span>
Result<void> read_spans(const json& object, const char* member, std::vector<Span>& into) {
  const auto found = object.find(member);
  if (found == object.end()) return {};
  if (!found->is_array()) return fail("\"{}\" is not a list", member);
  for (const json& item : *found) {
    if (!item.is_object()) return fail("a span of \"{}\" is not an object", member);
    Span span;
    SJ_CHECK(read_span(item, span));
    into.push_back(span);
  }
  return {};
}

}  // namespace

Result<void> from_json(std::span<const std::uint8_t> text, model::Capture& capture) {
  SJ_TRY(object, parse_object(text));
  model::Capture read;
  SJ_CHECK(read_member(object, "tracer", read.tracer));
  SJ_CHECK(read_engine(object, read.engine));
  SJ_CHECK(read_member(object, "attach", read.attach));
  SJ_CHECK(read_member(object, "sites", read.sites));
  SJ_CHECK(read_member(object, "open_ns", read.open_ns));
  SJ_CHECK(read_member(object, "close_ns", read.close_ns));
  SJ_CHECK(read_member(object, "ended_by", read.ended_by));
  SJ_CHECK(read_member(object, "stream_hits", read.stream_hits));
  SJ_CHECK(read_member(object, "stream_first", read.stream_first));
  SJ_CHECK(read_member(object, "tracer_cpu_ns", read.tracer_cpu_ns));
  SJ_CHECK(read_member(object, "target_cpu_ns", read.target_cpu_ns));
  SJ_CHECK(read_member(object, "stamp_error_ns", read.stamp_error_ns));
  SJ_CHECK(read_member(object, "stamp_delay_ns", read.stamp_delay_ns));
  SJ_CHECK(read_member(object, "tracer_rss_bytes", read.tracer_rss_bytes));
  SJ_CHECK(read_member(object, "longest_starved_ns", read.longest_starved_ns));
  SJ_CHECK(read_member(object, "hit_cost_ps", read.hit_cost_ps));
  SJ_CHECK(read_spans(object, "shed", read.shed));
  SJ_CHECK(read_spans(object, "unarmed", read.unarmed));
  SJ_CHECK(read_member(object, "unplaced", read.unplaced));
  capture = std::move(read);
  return {};
}

std::string to_json(const model::Ledger& ledger) {
  json entries = json::array();
  for (const model::LedgerEntry& entry : ledger)
    entries.push_back({{"stream", entry.stream},
                       {"point", entry.point},
                       {"cause", static_cast<unsigned>(entry.cause)},
                       {"count", entry.count}});
  return dump(entries);
}

Result<void> from_json(std::span<const std::uint8_t> text, model::Ledger& ledger) {
  SJ_TRY(entries, parse(text, json::value_t::array));
  model::Ledger read;
  for (const json& item : entries) {
    if (!item.is_object()) return fail("a ledger entry is not an object");
    model::LedgerEntry entry;
    std::uint8_t cause = 0;
    SJ_CHECK(read_member(item, "stream", entry.stream));
    SJ_CHECK(read_member(item, "point", entry.point));
    SJ_CHECK(read_member(item, "cause", cause));
    SJ_CHECK(read_member(item, "count", entry.count));
    entry.cause = static_cast<model::LossCause>(cause);
    read.push_back(entry);
  }
  ledger = std::move(read);
  return {};
}

std::string to_json(const model::Context& context) {
  json families = json::array();
  for (const model::ContextFamily& family : context.families)
    families.push_back({{"name", family.name}, {"missing", family.missing}});
  json names = json::array();
  for (const model::ContextName& entry : context.names) {
    json named = {{"kind", name(entry.kind)}, {"id", entry.id}, {"name", entry.name}};
    if (entry.pid != 0) named["pid"] = entry.pid;
    if (!entry.state.empty()) named["state"] = entry.state;
    names.push_back(std::move(named));
  }
  return dump({{"families", std::move(families)}, {"names", std::move(names)}});
}

namespace {

Result<void> read_family(const json& object, model::Context& context) {
  if (!object.is_object()) return fail("a context family is not an object");
  model::ContextFamily family;
  SJ_CHECK(read_member(object, "name", family.name));
  SJ_CHECK(read_member(object, "missing", family.missing));
  std::erase_if(context.families,
                [&](const model::ContextFamily& known) { return known.name == family.name; });
  context.families.push_back(std::move(family));
  return {};
}

// A kind that is not known is a later version's.
Result<void> read_name(const json& object, model::Context& context) {
  if (!object.is_object()) return fail("a context name is not an object");
  model::ContextName named;
  std::string kind;
  SJ_CHECK(read_member(object, "kind", kind));
  SJ_CHECK(read_member(object, "id", named.id));
  SJ_CHECK(read_member(object, "name", named.name));
  SJ_CHECK(read_member(object, "pid", named.pid));
  SJ_CHECK(read_member(object, "state", named.state));
  const auto known = model::name_kind_from(kind);
  if (!known) return {};
  named.kind = *known;
  context.names.push_back(std::move(named));
  return {};
}

Result<void> read_each(const json& object, const char* member, model::Context& context,
                       Result<void> (*read)(const json&, model::Context&)) {
  const auto list = object.find(member);
  if (list == object.end()) return {};
  if (!list->is_array()) return fail("\"{}\" is not a list", member);
  for (const json& item : *list) SJ_CHECK(read(item, context));
  return {};
}

}  // namespace

Result<void> from_json(std::span<const std::uint8_t> text, model::Context& context) {
  SJ_TRY(object, parse_object(text));
  model::Context read = context;
  SJ_CHECK(read_each(object, "families", read, read_family));
  SJ_CHECK(read_each(object, "names", read, read_name));
  context = std::move(read);
  return {};
}

namespace {

json side_to_json(const model::QueueSide& side) {
  return {{"stage", side.stage}, {"instance", side.instance}, {"pid", side.pid}};
}

Result<void> read_side(const json& object, const char* member, model::QueueSide& side) {
  const auto found = object.find(member);
  if (found == object.end()) return {};
  if (!found->is_object()) return fail("\"{}\" is not an object", member);
  SJ_CHECK(read_member(*found, "stage", side.stage));
  SJ_CHECK(read_member(*found, "instance", side.instance));
  return read_member(*found, "pid", side.pid);
}

Result<model::QueueChange> read_change(const json& object) {
  if (!object.is_object()) return fail("a queue's change is not an object");
  model::QueueChange change;
  std::string event(name(change.event));
  std::string kind(name(change.about.kind));
  SJ_CHECK(read_member(object, "event", event));
  SJ_CHECK(read_member(object, "ts_ns", change.ts_ns));
  SJ_CHECK(read_member(object, "after_ns", change.after_ns));
  SJ_CHECK(read_member(object, "id", change.about.id));
  SJ_CHECK(read_member(object, "name", change.about.name));
  SJ_CHECK(read_member(object, "kind", kind));
  SJ_CHECK(read_side(object, "producer", change.about.producer));
  SJ_CHECK(read_side(object, "consumer", change.about.consumer));
  SJ_CHECK(read_member(object, "group", change.about.group));
  SJ_CHECK(read_member(object, "capacity", change.about.capacity));
  const auto known_event = model::queue_event_from_name(event);
  const auto known_kind = model::queue_kind_from_name(kind);
  if (!known_event) return fail("a queue's change is \"{}\"", event);
  if (!known_kind) return fail("a queue's kind is \"{}\"", kind);
  change.event = *known_event;
  change.about.kind = *known_kind;
  return change;
}

}  // namespace

std::string to_json(const model::QueueChanges& changes) {
  json list = json::array();
  for (const model::QueueChange& change : changes)
    list.push_back({{"event", name(change.event)},
                    {"ts_ns", change.ts_ns},
                    {"after_ns", change.after_ns},
                    {"id", change.about.id},
                    {"name", change.about.name},
                    {"kind", name(change.about.kind)},
                    {"producer", side_to_json(change.about.producer)},
                    {"consumer", side_to_json(change.about.consumer)},
                    {"group", change.about.group},
                    {"capacity", change.about.capacity}});
  return dump(list);
}

Result<void> from_json(std::span<const std::uint8_t> text, model::QueueChanges& changes) {
  SJ_TRY(list, parse(text, json::value_t::array));
  model::QueueChanges read;
  for (const json& item : list) {
    SJ_TRY(change, read_change(item));
    read.push_back(std::move(change));
  }
  changes = std::move(read);
  return {};
}

std::string to_json(const model::Sampling& sampling) {
  json queues = json::array();
  for (const model::QueueLooks& queue : sampling.queues)
    queues.push_back({{"id", queue.id}, {"looks", queue.looks}, {"unsettled", queue.unsettled}});
  return dump({{"mode", name(sampling.mode)},
               {"period_ns", sampling.period_ns},
               {"cpu", sampling.cpu},
               {"passes", sampling.passes},
               {"missed", sampling.missed},
               {"held_back", sampling.held_back},
               {"looks", sampling.looks},
               {"pass_ns", sampling.pass_ns},
               {"longest_ns", sampling.longest_ns},
               {"cpu_ns", sampling.cpu_ns},
               {"refused", sampling.refused},
               {"queues", std::move(queues)}});
}

Result<void> from_json(std::span<const std::uint8_t> text, model::Sampling& sampling) {
  SJ_TRY(object, parse_object(text));
  model::Sampling read;
  std::string mode(name(read.mode));
  SJ_CHECK(read_member(object, "mode", mode));
  SJ_CHECK(read_member(object, "period_ns", read.period_ns));
  SJ_CHECK(read_member(object, "cpu", read.cpu));
  SJ_CHECK(read_member(object, "passes", read.passes));
  SJ_CHECK(read_member(object, "missed", read.missed));
  SJ_CHECK(read_member(object, "held_back", read.held_back));
  SJ_CHECK(read_member(object, "looks", read.looks));
  SJ_CHECK(read_member(object, "pass_ns", read.pass_ns));
  SJ_CHECK(read_member(object, "longest_ns", read.longest_ns));
  SJ_CHECK(read_member(object, "cpu_ns", read.cpu_ns));
  SJ_CHECK(read_member(object, "refused", read.refused));
  const auto known = model::sampling_mode_from_name(mode);
  if (!known) return fail("the sampler's mode is \"{}\"", mode);
  read.mode = *known;
  if (const auto queues = object.find("queues"); queues != object.end()) {
    if (!queues->is_array()) return fail("\"queues\" is not a list");
    for (const json& item : *queues) {
      if (!item.is_object()) return fail("a queue's looks are not an object");
      model::QueueLooks queue;
      SJ_CHECK(read_member(item, "id", queue.id));
      SJ_CHECK(read_member(item, "looks", queue.looks));
      SJ_CHECK(read_member(item, "unsettled", queue.unsettled));
      read.queues.push_back(queue);
    }
  }
  sampling = std::move(read);
  return {};
}

}  // namespace sojourn::trace
