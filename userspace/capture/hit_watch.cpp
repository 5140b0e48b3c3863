#include "userspace/capture/hit_watch.h"

#include <algorithm>
#include <functional>

#include <fmt/format.h>

namespace sojourn::capture {

namespace {

// A process's CPU time moves in steps of 10 ms, so shares of less say nothing. A process that used
// less within a window of this length is judged all the same.
constexpr std::uint64_t kMinHitWindowNs = 200'000'000;
constexpr std::uint64_t kLongWindowNs = 2'000'000'000;
constexpr std::uint64_t kEnoughCpuNs = 100'000'000;

}  // namespace

std::vector<HitWatch::Hot> HitWatch::find_hot(std::uint64_t now_ns,
                                              std::span<const WatchedPoint> points,
                                              std::span<const std::uint64_t> hits,
                                              std::uint64_t cpu_ns) {
  std::vector<Hot> hot;
  const bool is_first = last_ns_ == 0;
  const std::uint64_t window_ns = now_ns - last_ns_;
  const std::uint64_t spent_ns = cpu_ns - std::min(cpu_ns, last_cpu_ns_);
  const bool says_little =
      window_ns < kMinHitWindowNs || (spent_ns < kEnoughCpuNs && window_ns < kLongWindowNs);
  if (!is_first && says_little) return hot;
  const auto window = static_cast<double>(window_ns);
  const auto cpu = static_cast<double>(spent_ns);
  for (std::size_t point = 0; !is_first && point < std::min(points.size(), hits.size()); ++point) {
    const auto id = static_cast<model::PointId>(point);
    const std::uint64_t before = point < last_hits_.size() ? last_hits_[point] : 0;
    const auto count = static_cast<double>(hits[point] - std::min(hits[point], before));
    const double cost_ns = count * static_cast<double>(points[point].hit_ps) / 1e3;
    const bool is_hot = points[point].is_targets && points[point].is_hot_news &&
                        cost_ns > kHotOfProcessor * window && cost_ns > kHotShare * cpu;
    if (is_hot && reported_hot_.insert(id).second)
      hot.push_back({.point = id,
                     .hits_a_second = count / window * 1e9,
                     .share = cost_ns / std::max(cpu, cost_ns)});
  }
  last_ns_ = now_ns;
  last_cpu_ns_ = cpu_ns;
  last_hits_.assign(hits.begin(), hits.end());
  std::ranges::stable_sort(hot, std::greater(), &Hot::share);
  return hot;
}

HitWatch::News HitWatch::look(std::uint64_t now_ns, std::span<const WatchedPoint> points,
                              std::span<const std::uint64_t> hits, std::uint64_t cpu_ns) {
  News news{.hot = find_hot(now_ns, points, hits, cpu_ns), .silent = {}, .none_was_hit = false};
  if (has_reported_silent_ || now_ns < open_ns_ + kSilentNs) return news;
  has_reported_silent_ = true;
  std::size_t watched = 0;
  std::size_t unhit = 0;
  for (std::size_t point = 0; point < points.size(); ++point) {
    if (!points[point].is_targets) continue;
    const bool is_silent = point >= hits.size() || hits[point] == 0;
    ++watched;
    unhit += is_silent ? 1 : 0;
    if (is_silent && !points[point].may_be_silent)
      news.silent.push_back(static_cast<model::PointId>(point));
  }
  news.none_was_hit = watched != 0 && unhit == watched;
  return news;
}

std::string silent_points_text(std::span<const std::string> names, bool by_name) {
  constexpr std::size_t kMax = 5;
  std::string text;
  for (std::size_t name = 0; name < std::min(names.size(), kMax); ++name)
    text += (name == 0 ? "" : ", ") + names[name];
  if (names.size() > kMax) text += fmt::format(" and {} more", names.size() - kMax);
  return text + (by_name ? ": inlined where it is called, another library's, or no such traffic"
                         : ": no such traffic, or code that is not in use");
}

}  // namespace sojourn::capture
