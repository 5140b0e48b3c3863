#include "analysis/trace/meta.h"

#include <algorithm>
#include <iterator>
#include <optional>
#include <utility>

#include "analysis/trace/json_fields.h"

// The JSON form of each struct. Names are stored in traces: they are never changed or reused.
namespace sojourn::trace {

namespace {

using enum Presence;

template <typename... Fields>
constexpr auto table(Fields... fields) {
  return std::tuple(fields...);
}

template <typename Member>
constexpr JsonField<Member> field(const char* name, Member member,
                                  Presence presence = Presence::kOptional) {
  return {name, member, presence};
}

std::optional<model::Direction> direction_from_text(std::string_view text) {
  return text.size() == 1 ? model::direction_from_letter(text.front()) : std::nullopt;
}

std::optional<model::Engine> engine_from_name(std::string_view text) {
  for (const model::Engine engine :
       {model::Engine::kBpf, model::Engine::kRing, model::Engine::kImport, model::Engine::kKernel,
        model::Engine::kSampler, model::Engine::kScript})
    if (name(engine) == text) return engine;
  return std::nullopt;
}

}  // namespace

template <>
constexpr auto kFromName<model::Direction> = &direction_from_text;
template <>
constexpr auto kFromName<model::Engine> = &engine_from_name;
// These are calls and not addresses of functions: clang for WebAssembly gets a signature wrong if
// the function's address is taken before its types are needed.
template <>
constexpr auto kFromName<model::Role> =
    [](std::string_view text) { return model::role_from_name(text); };
template <>
constexpr auto kFromName<model::NameKind> =
    [](std::string_view text) { return model::name_kind_from(text); };
template <>
constexpr auto kFromName<model::QueueEvent> =
    [](std::string_view text) { return model::queue_event_from_name(text); };
template <>
constexpr auto kFromName<model::QueueKind> =
    [](std::string_view text) { return model::queue_kind_from_name(text); };
template <>
constexpr auto kFromName<model::SamplingMode> =
    [](std::string_view text) { return model::sampling_mode_from_name(text); };

template <>
constexpr std::size_t kMaxItems<model::Point> = model::kMaxPoints;
template <>
constexpr std::size_t kMaxItems<model::Field> = model::kMaxFields;

template <>
constexpr auto kFields<model::Field> =
    table(field("name", &model::Field::name), field("role", &model::Field::role),
          field("bytes", &model::Field::bytes), field("signed", &model::Field::is_signed),
          field("address", &model::Field::is_address, kIfSet));

template <>
constexpr auto kFields<model::Point> =
    table(field("dir", &model::Point::direction, kRequired), field("src", &model::Point::src),
          field("dest", &model::Point::dest), field("file", &model::Point::file),
          field("fields", &model::Point::fields, kRequired));

template <>
constexpr auto kFields<model::Schema> = table(field("points", &model::Schema::points, kRequired));

template <>
constexpr auto kFields<model::Target> =
    table(field("pid", &model::Target::pid), field("name", &model::Target::name),
          field("exe", &model::Target::exe), field("cmdline", &model::Target::cmdline),
          field("build_id", &model::Target::build_id), field("parent", &model::Target::parent),
          field("since_ns", &model::Target::since_ns), field("until_ns", &model::Target::until_ns));

template <>
constexpr auto kFields<model::Host> =
    table(field("name", &model::Host::name), field("kernel", &model::Host::kernel),
          field("machine", &model::Host::machine), field("cpu_model", &model::Host::cpu_model),
          field("cpus", &model::Host::cpus), field("measured", &model::Host::measured));

template <>
constexpr auto kFields<model::Stream> =
    table(field("id", &model::Stream::id), field("engine", &model::Stream::engine),
          field("cpu", &model::Stream::cpu), field("tid", &model::Stream::tid),
          field("pid", &model::Stream::pid));

template <>
constexpr auto kFields<model::ClockPair> = table(
    field("monotonic_ns", &model::ClockPair::monotonic_ns),
    field("realtime_ns", &model::ClockPair::realtime_ns),
    field("tai_ns", &model::ClockPair::tai_ns), field("error_ns", &model::ClockPair::error_ns));

template <>
constexpr auto kFields<model::ShedSpan> =
    table(field("point", &model::ShedSpan::point), field("from_ns", &model::ShedSpan::from_ns),
          field("until_ns", &model::ShedSpan::until_ns));

template <>
constexpr auto kFields<model::UnarmedSpan> =
    table(field("pid", &model::UnarmedSpan::pid), field("point", &model::UnarmedSpan::point),
          field("from_ns", &model::UnarmedSpan::from_ns),
          field("until_ns", &model::UnarmedSpan::until_ns));

template <>
constexpr auto kFields<model::CounterOffset> = table(
    field("cpu", &model::CounterOffset::cpu), field("ahead_ns", &model::CounterOffset::ahead_ns),
    field("error_ns", &model::CounterOffset::error_ns));

template <>
constexpr auto kFields<model::ClockBound> = table(field("from_ns", &model::ClockBound::from_ns),
                                                  field("error_ns", &model::ClockBound::error_ns));

template <>
constexpr auto kFields<model::MergedHost> =
    table(field("first_stream", &model::MergedHost::first_stream),
          field("stamp_error_ns", &model::MergedHost::stamp_error_ns),
          field("rate_error_ppb", &model::MergedHost::rate_error_ppb),
          field("bounds", &model::MergedHost::bounds, kIfSet));

template <>
constexpr auto kFields<model::Capture> =
    table(field("tracer", &model::Capture::tracer), field("engine", &model::Capture::engine),
          field("attach", &model::Capture::attach), field("sites", &model::Capture::sites),
          field("open_ns", &model::Capture::open_ns), field("close_ns", &model::Capture::close_ns),
          field("ended_by", &model::Capture::ended_by),
          field("stream_hits", &model::Capture::stream_hits),
          field("stream_first", &model::Capture::stream_first),
          field("tracer_cpu_ns", &model::Capture::tracer_cpu_ns),
          field("target_cpu_ns", &model::Capture::target_cpu_ns),
          field("stamp_error_ns", &model::Capture::stamp_error_ns),
          field("hosts", &model::Capture::hosts, kIfSet),
          field("stamp_delay_ns", &model::Capture::stamp_delay_ns),
          field("tracer_rss_bytes", &model::Capture::tracer_rss_bytes),
          field("longest_starved_ns", &model::Capture::longest_starved_ns),
          field("hit_cost_ps", &model::Capture::hit_cost_ps),
          field("hit_spread_ps", &model::Capture::hit_spread_ps),
          field("shed", &model::Capture::shed), field("unarmed", &model::Capture::unarmed),
          field("unplaced", &model::Capture::unplaced, kIfSet),
          field("counter_offsets", &model::Capture::counter_offsets, kIfSet),
          field("counters_corrected", &model::Capture::counters_corrected, kIfSet),
          field("events_of_unknown_cpu", &model::Capture::events_of_unknown_cpu, kIfSet),
          field("script", &model::Capture::script, kIfSet));

template <>
constexpr auto kFields<model::LedgerEntry> =
    table(field("stream", &model::LedgerEntry::stream), field("point", &model::LedgerEntry::point),
          field("cause", &model::LedgerEntry::cause), field("count", &model::LedgerEntry::count));

template <>
constexpr auto kFields<model::Origin> =
    table(field("capture", &model::Origin::capture, kRequired),
          field("stream_first", &model::Origin::stream_first), field("lost", &model::Origin::lost));

template <>
constexpr auto kFields<model::ContextFamily> = table(
    field("name", &model::ContextFamily::name), field("missing", &model::ContextFamily::missing));

template <>
constexpr auto kFields<model::ContextName> =
    table(field("kind", &model::ContextName::kind), field("id", &model::ContextName::id),
          field("name", &model::ContextName::name), field("pid", &model::ContextName::pid, kIfSet),
          field("state", &model::ContextName::state, kIfSet));

template <>
constexpr auto kFields<model::Context> =
    table(field("families", &model::Context::families), field("names", &model::Context::names));

template <>
constexpr auto kFields<model::Counter> = table(
    field("name", &model::Counter::name), field("period", &model::Counter::period),
    field("user_only", &model::Counter::user_only), field("missing", &model::Counter::missing));

template <>
constexpr auto kFields<model::FrameFunction> =
    table(field("function", &model::FrameFunction::function),
          field("file", &model::FrameFunction::file, kIfSet),
          field("line", &model::FrameFunction::line, kIfSet));

template <>
constexpr auto kFields<model::Frame> = table(
    field("id", &model::Frame::id), field("module", &model::Frame::module),
    field("build_id", &model::Frame::build_id, kIfSet), field("address", &model::Frame::address),
    field("kernel", &model::Frame::is_kernel, kIfSet),
    field("calls", &model::Frame::calls, kIfSet));

template <>
constexpr auto kFields<model::Stack> =
    table(field("id", &model::Stack::id), field("frames", &model::Stack::frames));

template <>
constexpr auto kFields<model::Profile> =
    table(field("counters", &model::Profile::counters), field("frames", &model::Profile::frames),
          field("stacks", &model::Profile::stacks));

template <>
constexpr auto kFields<model::QueueSide> =
    table(field("stage", &model::QueueSide::stage), field("instance", &model::QueueSide::instance),
          field("pid", &model::QueueSide::pid));

// The queue's own fields stand beside those of its change.
template <>
constexpr auto kFields<model::QueueChange> =
    table(field("event", &model::QueueChange::event), field("ts_ns", &model::QueueChange::ts_ns),
          field("after_ns", &model::QueueChange::after_ns),
          field("id", [](auto& change) -> auto& { return change.about.id; }),
          field("name", [](auto& change) -> auto& { return change.about.name; }),
          field("kind", [](auto& change) -> auto& { return change.about.kind; }),
          field("producer", [](auto& change) -> auto& { return change.about.producer; }),
          field("consumer", [](auto& change) -> auto& { return change.about.consumer; }),
          field("group", [](auto& change) -> auto& { return change.about.group; }),
          field("capacity", [](auto& change) -> auto& { return change.about.capacity; }));

template <>
constexpr auto kFields<model::QueueLooks> =
    table(field("id", &model::QueueLooks::id), field("looks", &model::QueueLooks::looks),
          field("unsettled", &model::QueueLooks::unsettled));

template <>
constexpr auto kFields<model::Sampling> = table(
    field("mode", &model::Sampling::mode), field("period_ns", &model::Sampling::period_ns),
    field("cpu", &model::Sampling::cpu), field("passes", &model::Sampling::passes),
    field("missed", &model::Sampling::missed), field("held_back", &model::Sampling::held_back),
    field("looks", &model::Sampling::looks), field("pass_ns", &model::Sampling::pass_ns),
    field("longest_ns", &model::Sampling::longest_ns), field("cpu_ns", &model::Sampling::cpu_ns),
    field("refused", &model::Sampling::refused), field("queues", &model::Sampling::queues));

template <>
constexpr auto kFields<model::EnergyZone> =
    table(field("id", &model::EnergyZone::id), field("host", &model::EnergyZone::host, kIfSet),
          field("package", &model::EnergyZone::package), field("name", &model::EnergyZone::name),
          field("source", &model::EnergyZone::source), field("place", &model::EnergyZone::place),
          field("range", &model::EnergyZone::range),
          field("missing", &model::EnergyZone::missing, kIfSet),
          field("gone_ns", &model::EnergyZone::gone_ns, kIfSet));

template <>
constexpr auto kFields<model::FrequencyPolicy> = table(
    field("id", &model::FrequencyPolicy::id), field("host", &model::FrequencyPolicy::host, kIfSet),
    field("cpus", &model::FrequencyPolicy::cpus),
    field("governor", &model::FrequencyPolicy::governor),
    field("least_khz", &model::FrequencyPolicy::least_khz),
    field("most_khz", &model::FrequencyPolicy::most_khz));

template <>
constexpr auto kFields<model::IdleState> =
    table(field("id", &model::IdleState::id), field("host", &model::IdleState::host, kIfSet),
          field("name", &model::IdleState::name), field("cpus", &model::IdleState::cpus));

template <>
constexpr auto kFields<model::EnergyMissing> =
    table(field("host", &model::EnergyMissing::host, kIfSet),
          field("what", &model::EnergyMissing::what), field("why", &model::EnergyMissing::why));

template <>
constexpr auto kFields<model::Energy> = table(
    field("period_ns", &model::Energy::period_ns), field("zones", &model::Energy::zones),
    field("policies", &model::Energy::policies), field("idle_states", &model::Energy::idle_states),
    field("missing", &model::Energy::missing));

template <typename T>
std::string to_json(const T& about) {
  return dump(to_value(about));
}

template <typename T>
Result<void> from_json(std::span<const std::uint8_t> text, T& about) {
  return read_text(text, about);
}

template <>
Result<void> from_json(std::span<const std::uint8_t> text, model::Context& context) {
  SJ_TRY(object, parse(text, json::value_t::object));
  // A kind of names that is not known is a later version's.
  if (const auto names = object.find("names"); names != object.end() && names->is_array())
    std::erase_if(names->get_ref<json::array_t&>(), [](const json& item) {
      const auto kind = item.is_object() ? item.find("kind") : item.end();
      return item.is_object() &&
             (kind == item.end() ||
              (kind->is_string() && !model::name_kind_from(kind->get_ref<const std::string&>())));
    });
  model::Context read;
  SJ_CHECK(read_value(object, "the context", read));
  for (model::ContextFamily& family : read.families) {
    std::erase_if(context.families,
                  [&](const model::ContextFamily& known) { return known.name == family.name; });
    context.families.push_back(std::move(family));
  }
  std::ranges::move(read.names, std::back_inserter(context.names));
  return {};
}

template <>
Result<void> from_json(std::span<const std::uint8_t> text, model::Profile& profile) {
  model::Profile read;
  SJ_CHECK(read_text(text, read));
  for (model::Counter& counter : read.counters) {
    std::erase_if(profile.counters,
                  [&](const model::Counter& known) { return known.name == counter.name; });
    profile.counters.push_back(std::move(counter));
  }
  std::ranges::move(read.frames, std::back_inserter(profile.frames));
  std::ranges::move(read.stacks, std::back_inserter(profile.stacks));
  return {};
}

template std::string to_json(const model::Schema&);
template std::string to_json(const model::Target&);
template std::string to_json(const model::Host&);
template std::string to_json(const model::Stream&);
template std::string to_json(const model::ClockPair&);
template std::string to_json(const model::Capture&);
template std::string to_json(const model::Ledger&);
template std::string to_json(const model::Origin&);
template std::string to_json(const model::Context&);
template std::string to_json(const model::Profile&);
template std::string to_json(const model::QueueChanges&);
template std::string to_json(const model::Sampling&);
template std::string to_json(const model::Energy&);

template Result<void> from_json(std::span<const std::uint8_t>, model::Schema&);
template Result<void> from_json(std::span<const std::uint8_t>, model::Target&);
template Result<void> from_json(std::span<const std::uint8_t>, model::Host&);
template Result<void> from_json(std::span<const std::uint8_t>, model::Stream&);
template Result<void> from_json(std::span<const std::uint8_t>, model::ClockPair&);
template Result<void> from_json(std::span<const std::uint8_t>, model::Capture&);
template Result<void> from_json(std::span<const std::uint8_t>, model::Ledger&);
template Result<void> from_json(std::span<const std::uint8_t>, model::Origin&);
template Result<void> from_json(std::span<const std::uint8_t>, model::QueueChanges&);
template Result<void> from_json(std::span<const std::uint8_t>, model::Sampling&);
template Result<void> from_json(std::span<const std::uint8_t>, model::Energy&);

}  // namespace sojourn::trace
