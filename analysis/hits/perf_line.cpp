#include "analysis/hits/perf_line.h"

#include <algorithm>
#include <optional>

#include "analysis/hits/words.h"

namespace sojourn::hits {

namespace {

std::string_view trimmed(std::string_view text) {
  text.remove_prefix(std::min(text.find_first_not_of(" \t"), text.size()));
  return text.substr(0, text.find_last_not_of(" \t\r") + 1);
}

// Cuts off the last word and returns it.
std::string_view take_last_word(std::string_view& text) {
  text = trimmed(text);
  const std::size_t gap = text.find_last_of(" \t");
  const std::string_view word = gap == std::string_view::npos ? text : text.substr(gap + 1);
  text.remove_suffix(word.size());
  return word;
}

bool is_cpu(std::string_view word) {
  return word.size() > 2 && word.starts_with('[') && word.ends_with(']') &&
         parse_digits(word.substr(1, word.size() - 2));
}

// "station 4242 [001]", "my program 4242/4243": a thread's name may have spaces.
bool take_thread(std::string_view head, Hit& hit) {
  std::string_view word = take_last_word(head);
  if (is_cpu(word)) word = take_last_word(head);
  const std::size_t slash = word.find('/');
  const auto tid = parse_digits(slash == std::string_view::npos ? word : word.substr(slash + 1));
  if (!tid || *tid > UINT32_MAX ||
      (slash != std::string_view::npos && !parse_digits(word.substr(0, slash))))
    return false;
  hit.tid = static_cast<std::uint32_t>(*tid);
  hit.thread = trimmed(head);
  return true;
}

std::string_view without_prefix(std::string_view event) {
  for (const std::string_view prefix : {"sdt_", "probe_"})
    if (event.starts_with(prefix)) return event.substr(prefix.size());
  return event;
}

}  // namespace

Line parse_perf_line(std::string_view text, Hit& hit) {
  const bool is_indented_address = text.starts_with('\t');
  if (trimmed(text).empty() || text.starts_with('#') || is_indented_address)
    return {.kind = LineKind::kOther};
  // The time is the first word that is one, and that stands behind a thread: names may have any
  // words.
  for (std::size_t colon = text.find(": "); colon != std::string_view::npos;
       colon = text.find(": ", colon + 1)) {
    const std::string_view before = text.substr(0, colon);
    const std::size_t gap = before.find_last_of(" \t");
    if (gap == std::string_view::npos) continue;
    const auto ts_ns = parse_seconds(before.substr(gap + 1));
    if (!ts_ns || !take_thread(before.substr(0, gap), hit)) continue;
    hit.ts_ns = *ts_ns;
    std::string_view rest = text.substr(colon + 1);
    std::string_view event = take_word(rest);
    if (parse_digits(event)) event = take_word(rest);  // a sample's period
    if (event == "PERF_RECORD_LOST") {
      while (!rest.empty())
        if (const auto count = parse_digits(take_word(rest)))
          return {.kind = LineKind::kLost, .lost = *count};
      return {};
    }
    if (!event.ends_with(':') || event.size() < 2) return {};
    event.remove_suffix(1);
    hit.event = without_prefix(event);
    hit.fields.clear();
    for (std::string_view word = take_word(rest); !word.empty(); word = take_word(rest))
      if (const auto field = parse_field(word)) hit.fields.push_back(*field);
    return {.kind = LineKind::kHit};
  }
  return {};
}

}  // namespace sojourn::hits
