#include "analysis/hits/hit_import.h"

#include <limits>
#include <optional>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "analysis/base/count_text.h"

namespace sojourn::hits {

namespace {

constexpr std::size_t kMaxThreads = 100'000;

std::optional<std::uint64_t> shifted(std::uint64_t ts_ns, TimeShift shift) {
  constexpr std::uint64_t kMost = std::numeric_limits<std::int64_t>::max();
  if (ts_ns > kMost) return std::nullopt;
  if (shift.is_back) return ts_ns < shift.ns ? std::nullopt : std::optional(ts_ns - shift.ns);
  return ts_ns + shift.ns > kMost ? std::nullopt : std::optional(ts_ns + shift.ns);
}

}  // namespace

std::string_view key(Skip why) {
  constexpr std::array<std::string_view, kSkips> kKeys = {"malformed", "left_out", "lacks_field",
                                                          "time",      "too_long", "cut"};
  return kKeys.at(static_cast<std::size_t>(why));
}

std::string_view words(Skip why) {
  constexpr std::array<std::string_view, kSkips> kWords = {
      "it does not have the time, thread and event of a hit",
      "the map leaves the event out",
      "the event has not the value that the map names",
      "the time is outside of a trace's range",
      "the line is too long",
      "the line has no end: its last number may be cut"};
  return kWords.at(static_cast<std::size_t>(why));
}

Result<void> HitImport::add(const Hit& hit) {
  const auto ts_ns = shifted(hit.ts_ns, shift_);
  if (!ts_ns) {
    file_.skip(Skip::kTime);
    return {};
  }
  NoPoint why{};
  auto point = points_.of(hit, values_, why);
  if (!point) return std::unexpected(std::move(point).error().within(file_.path));
  if (!*point) {
    file_.skip(why == NoPoint::kLeftOut ? Skip::kLeftOut : Skip::kLacksField);
    return {};
  }
  if (!hit.thread.empty() && threads_.size() < kMaxThreads)
    threads_.try_emplace(hit.tid, hit.thread);
  waiting_.add({.ts_ns = *ts_ns,
                .seq = 0,
                .stream = 0,
                .tid = hit.tid,
                .point = **point,
                .values = values_});
  if (waiting_.size() < 2 * trace::kOrderWindow) return {};
  return into_.write(waiting_.take_first(trace::kOrderWindow), points_.schema());
}

Result<void> HitImport::finish() {
  SJ_CHECK(into_.write(waiting_.take_first(waiting_.size()), points_.schema()));
  file_.disordered = waiting_.disordered();
  return {};
}

std::string why_empty(const FileSummary& file, std::string_view tracer) {
  std::string text = fmt::format("no hit of {} in {}", tracer, counted(file.lines, "line"));
  if (!file.failure.empty()) text += "; " + file.failure;
  for (std::size_t at = 0; at < kSkips; ++at)
    if (const Skipped& one = file.skipped.at(at); one.count != 0)
      text += fmt::format("; {} (line {})", words(static_cast<Skip>(at)), one.first_line);
  return text;
}

Result<void> name_threads(const ThreadNames& threads, imports::Destination& into) {
  std::vector<model::ContextName> names;
  for (const auto& [tid, name] : threads)
    names.push_back(
        {.kind = model::NameKind::kThread, .id = tid, .name = name, .pid = 0, .state = {}});
  return into.name_threads(std::move(names));
}

}  // namespace sojourn::hits
