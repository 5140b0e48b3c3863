#include "userspace/cli/live/list/list_suggest.h"

#include <algorithm>
#include <chrono>
#include <span>
#include <utility>
#include <vector>

#include <fmt/core.h>

#include "analysis/model/links.h"
#include "userspace/base/count_text.h"
#include "userspace/capture/api.h"
#include "userspace/cli/tell.h"
#include "userspace/coarse/functions/data_path.h"
#include "userspace/coarse/suggest/map_suggestion.h"
#include "userspace/coarse/suggest/path_pieces.h"
#include "userspace/tracee/point_selection.h"
#include "userspace/tracee/process.h"
#include "userspace/tracee/procfs.h"

namespace sojourn::cli {

namespace {

using base::counted;
using tracee::printable;

constexpr std::chrono::milliseconds kWatched(500);
constexpr std::uint64_t kEnough = 16;  // calls of each, for a guess

// The rates, by point. Measured in two parts: frequent functions are found soon, and lose their
// probes before they cost much.
Result<std::vector<capture::HitRate>> measure_rates(const tracee::Points& points, pid_t pid,
                                                    std::chrono::milliseconds timeout) {
  SJ_TRY(rates, capture::measure_hit_rates(points, pid));
  const auto idle = std::ranges::count_if(
      rates, [](const capture::HitRate& rate) { return rate.hits == 0 && !rate.is_too_hot; });
  if (idle == 0 || timeout.count() == 0) return std::move(rates);
  tell("{} not called in {} ms: watched on, for {:.1f} s at most ...\n",
       counted(static_cast<std::uint64_t>(idle), "function"), capture::RateOptions{}.span.count(),
       std::chrono::duration<double>(timeout).count());
  SJ_CHECK(capture::watch_on(points, pid, timeout, rates));
  return std::move(rates);
}

// Watches the functions' arguments. If that fails, the map is suggested without it.
void watch_arguments(const coarse::FoundPoints& found, pid_t pid, std::chrono::milliseconds timeout,
                     std::vector<coarse::CallRate>& calls) {
  const std::vector<bool> wanted = coarse::worth_watching(calls);
  std::vector<std::size_t> ids;
  for (std::size_t id = 0; id < wanted.size(); ++id)
    if (wanted[id]) ids.push_back(id);
  if (ids.empty()) return;
  tell("watching the arguments of {} ...\n", counted(ids.size(), "function"));
  const auto seen = capture::watch_hits(tracee::select(found.points, wanted), pid,
                                        {.span = kWatched, .timeout = timeout, .enough = kEnough});
  if (!seen) return tell("which arguments are passed on is not known: {}\n", seen.error().text());
  std::vector<bool> takes(calls.size());
  std::vector<bool> has_objects(calls.size());
  for (const coarse::MappedSite& site : found.mapped) {
    const std::size_t point = found.points.sites[site.site].point;
    takes.at(point) = coarse::takes_out(site.function);
    has_objects.at(point) = coarse::may_take_objects(site.function);
  }
  std::vector<coarse::WatchedCall> watched;
  for (const capture::SeenHit& hit : *seen) {
    coarse::WatchedCall call{
        .ts_ns = hit.ts_ns, .function = ids.at(hit.point), .values = {}, .tid = hit.tid};
    const auto stack =
        found.points.schema.points.at(call.function).field(model::kStackPointerField);
    if (stack && *stack < hit.values.size()) call.stack = hit.values[*stack];
    std::copy_n(hit.values.begin(), std::min(hit.values.size(), call.values.size()),
                call.values.begin());
    if (!takes[call.function]) call.values.at(coarse::kWatchedHead) = 0;
    if (!has_objects[call.function])
      std::fill(call.values.begin() + coarse::kWatchedObjects, call.values.end(), 0);
    watched.push_back(call);
  }
  auto ways = coarse::find_data_flow(watched, calls.size());
  coarse::join_nested(watched, ways);
  for (std::size_t id = 0; id < calls.size(); ++id) calls[id].way = ways[id];
}

// Says how many paths were found, and what is not known of them.
void tell_paths(std::span<const coarse::CallRate> calls) {
  const auto pieces = coarse::pieces_of(coarse::ways_of(calls));
  std::size_t functions = 0;
  for (const coarse::PathPiece& piece : pieces) functions += piece.functions;
  if (pieces.empty())
    return tell(
        "none of them is known to pass anything on: the map has no path, until src and dest are "
        "said\n");
  if (pieces.size() == 1) return tell("{} of them are on one path\n", functions);
  tell(
      "{} of them are on {} paths, or pieces of fewer: what joins them is not known, nor which are "
      "uplink;\nthe map says where each begins and ends\n",
      functions, pieces.size());
}

}  // namespace

Result<void> suggest_map(pid_t pid, std::chrono::milliseconds timeout) {
  SJ_TRY(process, tracee::Process::open(pid));
  SJ_TRY(found, coarse::find_data_path(process));
  const std::string title = process.title();
  if (!found.points.unusable.empty())
    tell("left alone, for want of a cheap place for a probe: {}\n",
         counted(found.points.unusable.size(), "function"));
  if (found.mapped.empty())
    return fail(
        "no function of process {} that could have a probe looks like a data path: is it "
        "stripped?",
        title);
  tell("{} that look like a data path are counted ...\n", counted(found.mapped.size(), "function"));
  auto rates = measure_rates(found.points, pid, timeout);
  if (!rates)
    return std::unexpected(
        process.explain(std::move(rates).error().within("count the functions' calls")));
  std::vector<coarse::CallRate> calls;
  calls.reserve(rates->size());
  for (const capture::HitRate& rate : *rates)
    calls.push_back({.a_second = rate.a_second(),
                     .watched_s = static_cast<double>(rate.span_ns) / 1e9,
                     .is_too_hot = rate.is_too_hot});
  watch_arguments(found, pid, timeout, calls);
  const auto hit = std::ranges::count_if(
      calls, [](const coarse::CallRate& call) { return call.a_second > 0 && !call.is_too_hot; });
  tell("{} looked at, {} of them are called\n", counted(found.mapped.size(), "function"), hit);
  tell_paths(calls);
  fmt::print("{}", coarse::suggested_map(found, calls, "proposed for " + printable(title)));
  return {};
}

}  // namespace sojourn::cli
