#include "analysis/hits/bpftrace_line.h"

#include <algorithm>

#include <nlohmann/json.hpp>

#include "analysis/hits/words.h"

namespace sojourn::hits {

namespace {

using nlohmann::json;

// "usdt:./gnb:gnb:pdcp_in" is gnb:pdcp_in, "uprobe:./gnb:main" is main, "tracepoint:sched:x" is
// sched:x.
std::string_view event_of(std::string_view probe) {
  for (const std::string_view kind : {"usdt:", "uprobe:", "uretprobe:", "U:", "u:"}) {
    if (!probe.starts_with(kind)) continue;
    probe.remove_prefix(kind.size());
    const std::size_t colon = probe.find(':');
    return colon == std::string_view::npos ? probe : probe.substr(colon + 1);
  }
  const std::size_t colon = probe.find(':');
  return colon == std::string_view::npos ? probe : probe.substr(colon + 1);
}

Line parse_text(std::string_view text, Hit& hit) {
  while (text.ends_with('\r') || text.ends_with('\n')) text.remove_suffix(1);
  if (text.find_first_not_of(" \t") == std::string_view::npos) return {.kind = LineKind::kOther};
  std::string_view rest = text;
  const std::string_view first = take_word(rest);
  if (first == "Attaching" || first == "WARNING:" || first.starts_with('@'))
    return {.kind = LineKind::kOther};
  if (first == "Lost") {
    const auto count = parse_digits(take_word(rest));
    return count ? Line{.kind = LineKind::kLost, .lost = *count} : Line{};
  }
  const auto ts_ns = parse_digits(first);
  const std::string_view probe = take_word(rest);
  if (!ts_ns || !probe.contains(':')) return {};
  hit = {.ts_ns = *ts_ns, .event = event_of(probe), .tid = 0, .thread = {}, .fields = {}};
  if (hit.event.empty()) return {};
  for (std::string_view word = take_word(rest); !word.empty(); word = take_word(rest)) {
    if (word.starts_with("comm=")) {
      // To the end of the line: a name may have spaces.
      hit.thread = text.substr(static_cast<std::size_t>(word.data() - text.data()) + 5);
      break;
    }
    const auto field = parse_field(word);
    if (!field) continue;
    if (field->name == "tid" && field->value <= UINT32_MAX)
      hit.tid = static_cast<std::uint32_t>(field->value);
    else
      hit.fields.push_back(*field);
  }
  return {.kind = LineKind::kHit};
}

}  // namespace

Line BpftraceLines::parse(std::string_view text, Hit& hit) {
  return text.starts_with('{') ? parse_json(text, hit) : parse_text(text, hit);
}

Line BpftraceLines::parse_json(std::string_view text, Hit& hit) {
  const json object = json::parse(text, nullptr, false);
  if (!object.is_object()) return {};
  const auto type = object.find("type");
  const auto data = object.find("data");
  if (type == object.end() || data == object.end() || !type->is_string()) return {};
  if (*type == "lost_events") {
    const auto events = data->is_object() ? data->find("events") : data->end();
    if (!data->is_object() || events == data->end() || !events->is_number_unsigned()) return {};
    return {.kind = LineKind::kLost, .lost = events->get<std::uint64_t>()};
  }
  if (*type != "printf") return {.kind = LineKind::kOther};
  if (!data->is_string()) return {};
  unpacked_ = data->get<std::string>();
  return parse_text(unpacked_, hit);
}

}  // namespace sojourn::hits
