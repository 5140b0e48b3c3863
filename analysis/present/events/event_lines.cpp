#include "analysis/present/events/event_lines.h"

#include <algorithm>
#include <iterator>
#include <string_view>

#include <nlohmann/json.hpp>

#include "analysis/model/links.h"
#include "analysis/model/unread.h"

namespace sojourn::present {
namespace {

constexpr std::uint64_t kSecond = 1'000'000'000;

std::string quoted(const std::string& text) {
  return nlohmann::json(text).dump(-1, ' ', true, nlohmann::json::error_handler_t::replace);
}

std::uint32_t helpers_of(const model::Point& point) {
  static_assert(model::kMaxFields <= 32);
  std::uint32_t bits = 0;
  for (std::size_t field = 0; field < point.fields.size(); ++field)
    if (model::is_auxiliary_field(point.fields[field].name)) bits |= std::uint32_t{1} << field;
  return bits;
}

std::vector<model::ValueForm> forms_of(const model::Point& point) {
  std::vector<model::ValueForm> forms;
  for (std::size_t at = 0; at < point.fields.size(); ++at)
    forms.push_back(model::form_of(point, at));
  return forms;
}

}  // namespace

EventLines::EventLines(const trace::Reader& reader, Time time, std::uint64_t origin_ns, bool json)
    : EventLines(Described{.clocks = reader.clocks(),
                           .schema = reader.schema(),
                           .streams = reader.streams(),
                           .targets = reader.targets().size()},
                 time, origin_ns, json) {}

EventLines::EventLines(const trace::Metadata& about, Time time, std::uint64_t origin_ns, bool json)
    : EventLines(Described{.clocks = about.clocks,
                           .schema = about.schema,
                           .streams = about.streams,
                           .targets = about.targets.size()},
                 time, origin_ns, json) {}

EventLines::EventLines(const Described& trace, Time time, std::uint64_t origin_ns, bool json)
    : json_(json),
      wall_clock_(trace.clocks),
      is_wall_(time == Time::kWall),
      origin_ns_(time == Time::kSinceOrigin ? origin_ns : 0),
      schema_(trace.schema),
      has_several_(trace.targets > 1) {
  for (const model::Stream& stream : trace.streams) {
    cpus_[stream.id] = stream.cpu;
    if (stream.pid >= 0) pids_[stream.id] = stream.pid;
  }
  for (const model::Point& point : schema_.points) {
    heads_.push_back(head_of(point));
    unread_.push_back(model::unread_field(point));
    helpers_.push_back(helpers_of(point));
    forms_.push_back(forms_of(point));
    if (json_) members_.push_back(members_of(point));
  }
}

void EventLines::append(const model::EventView& event, fmt::memory_buffer& out) const {
  if (json_)
    append_json(event, out);
  else
    append_text(event, out);
}

std::string EventLines::head_of(const model::Point& point) const {
  if (!json_) return fmt::format("{} {}", letter(point.direction), point.name());
  return fmt::format("\"dir\":\"{}\",\"point\":{},\"src\":{},\"dest\":{}", letter(point.direction),
                     quoted(point.name()), quoted(point.src), quoted(point.dest));
}

std::vector<EventLines::Member> EventLines::members_of(const model::Point& point) {
  std::vector<Member> members;
  for (std::size_t field = 0; field < point.fields.size(); ++field) {
    if (helpers_of(point) >> field & 1) continue;
    const std::string name = quoted(point.fields[field].name);
    auto known = std::ranges::find(members, name, &Member::name);
    if (known == members.end()) known = members.insert(known, {.name = name, .fields = {}});
    known->fields.push_back(field);
  }
  return members;
}

std::int64_t EventLines::shown_ns(std::uint64_t ts_ns) const {
  return static_cast<std::int64_t>(is_wall_ ? wall_clock_.realtime_ns(ts_ns) : ts_ns - origin_ns_);
}

void EventLines::append_text(const model::EventView& event, fmt::memory_buffer& out) const {
  const auto into = std::back_inserter(out);
  const std::int64_t time_ns = shown_ns(event.ts_ns);
  const std::uint64_t magnitude_ns =
      time_ns < 0 ? 0 - static_cast<std::uint64_t>(time_ns) : static_cast<std::uint64_t>(time_ns);
  fmt::format_to(into, "{}{}.{:09} {}", time_ns < 0 ? "-" : "", magnitude_ns / kSecond,
                 magnitude_ns % kSecond, heads_[event.point]);
  const auto& fields = schema_.points[event.point].fields;
  const std::uint64_t unread = model::unread_bits(unread_[event.point], event.values);
  for (std::size_t i = 0; i < fields.size(); ++i) {
    if (helpers_[event.point] >> i & 1) continue;
    fmt::format_to(into, " {} ", fields[i].name);
    if (unread >> i & 1)
      out.push_back('?');
    else
      model::append_value(out, forms_[event.point][i], event.values[i]);
  }
  if (const auto cpu = cpus_.find(event.stream); cpu != cpus_.end() && cpu->second >= 0)
    fmt::format_to(into, " cpu {}", cpu->second);
  fmt::format_to(into, " tid {}", event.tid);
  if (const auto pid = pids_.find(event.stream); has_several_ && pid != pids_.end())
    fmt::format_to(into, " pid {}", pid->second);
  fmt::format_to(into, "\n");
}

void EventLines::append_json(const model::EventView& event, fmt::memory_buffer& out) const {
  const auto into = std::back_inserter(out);
  fmt::format_to(into, "{{\"t_ns\":{},{},\"fields\":{{", shown_ns(event.ts_ns),
                 heads_[event.point]);
  const auto& fields = schema_.points[event.point].fields;
  const std::uint64_t unread = model::unread_bits(unread_[event.point], event.values);
  std::string_view before;
  for (const Member& member : members_[event.point]) {
    fmt::format_to(into, "{}{}:{}", before, member.name, member.fields.size() > 1 ? "[" : "");
    before = "";
    for (const std::size_t i : member.fields) {
      if (unread >> i & 1)
        fmt::format_to(into, "{}null", before);
      else if (fields[i].is_signed)
        fmt::format_to(into, "{}{}", before, static_cast<std::int64_t>(event.values[i]));
      else
        fmt::format_to(into, "{}{}", before, event.values[i]);
      before = ",";
    }
    if (member.fields.size() > 1) fmt::format_to(into, "]");
  }
  fmt::format_to(into, "}},\"tid\":{},", event.tid);
  if (const auto pid = pids_.find(event.stream); pid != pids_.end())
    fmt::format_to(into, "\"pid\":{},", pid->second);
  fmt::format_to(into, "\"cpu\":");
  if (const auto cpu = cpus_.find(event.stream); cpu != cpus_.end() && cpu->second >= 0)
    fmt::format_to(into, "{}", cpu->second);
  else
    fmt::format_to(into, "null");
  fmt::format_to(into, ",\"stream\":{},\"seq\":{}}}\n", event.stream, event.seq);
}

}  // namespace sojourn::present
