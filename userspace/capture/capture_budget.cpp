// How a running capture keeps to its budget; budget.h decides what goes and what comes back.
#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include <fmt/core.h>

#include "userspace/base/clock.h"
#include "userspace/capture/capture_state.h"

namespace sojourn::capture {

std::vector<BudgetPoint> Capture::State::budget_points() const {
  std::vector<BudgetPoint> costs;
  for (std::size_t point = 0; point < schema.points.size(); ++point) {
    const model::Direction direction = schema.points[point].direction;
    costs.push_back({.hit_ps = about.hit_cost_ps[point],
                     .may_shed = direction == model::Direction::kDownlink ||
                                 direction == model::Direction::kUplink});
  }
  return costs;
}

Result<void> Capture::State::set_budget() {
  if (!options.budget) return {};
  if (!coverage.why_no_costs.empty())
    return fail("keep to a budget: what a hit costs is not known: {}", coverage.why_no_costs);
  budget.emplace(*options.budget, budget_points());
  return {};
}

// Points of processes and libraries that came later. Where nothing came before that eBPF records,
// only now it shows that its costs cannot be known.
void Capture::State::extend_budget(const Listener& listener) {
  if (!budget) return;
  if (!coverage.why_no_costs.empty() && !std::exchange(told_of_no_costs, true))
    listener.say(
        fmt::format("not kept to the budget: what eBPF records, as its costs are not known: {}",
                    coverage.why_no_costs));
  budget->set_points(budget_points());
}

// A span begins before the first of its hits can be missing, and ends when none is any more.
Result<void> Capture::State::switch_points(const std::vector<model::PointId>& points, bool on) {
  if (!on)
    for (const model::PointId point : points)
      about.shed.push_back({.point = point, .from_ns = base::monotonic_ns(), .until_ns = 0});
  for (const auto& member : members)
    for (Engine* engine : member->engines)
      // A process that just ended cannot be attached to.
      if (auto switched = engine->switch_points(points, on); !switched && member->process.alive())
        return switched;
  if (on)
    for (model::ShedSpan& span : about.shed)
      if (span.until_ns == 0 && std::ranges::find(points, span.point) != points.end())
        span.until_ns = base::monotonic_ns();
  write_shed();
  return {};
}

// For readers of a capture that is killed. The list grows, so it is written ever more rarely; a
// flight recorder's dumps have it anyway.
void Capture::State::write_shed() {
  constexpr std::size_t kFew = 256;
  const std::size_t spans = about.shed.size();
  if (options.flight || (spans > kFew && spans < 2 * shed_written)) return;
  shed_written = spans;
  sink->push(about);
}

Result<void> Capture::State::keep_budget(const Listener& listener) {
  constexpr std::uint64_t kPeriodNs = 100'000'000;
  const std::uint64_t now_ns = base::monotonic_ns();
  if (!budget || !is_open() || now_ns < next_budget_ns || !is_alive()) return {};
  next_budget_ns = now_ns + kPeriodNs;
  SJ_TRY(hits, hits_by_point());
  const Budget::Decision decision = budget->look(now_ns, hits, target_cpu_ns());
  const auto words = [&](const std::vector<model::PointId>& points) {
    std::string text = output->schema().points[points.front()].name();
    if (points.size() > 1) text += fmt::format(" and {} more", points.size() - 1);
    return text;
  };
  if (!decision.shed.empty()) {
    SJ_CHECK(switch_points(decision.shed, false));
    listener.say(
        fmt::format("shed {}: tracing took {:.3g} % of the target's CPU, the budget is {:.3g} %",
                    words(decision.shed), 100 * decision.share, 100 * budget->share()));
  }
  if (!decision.restored.empty()) {
    SJ_CHECK(switch_points(decision.restored, true));
    listener.say(fmt::format("brought back {}{}", words(decision.restored),
                             budget->is_whole() ? ": all points are on again" : ""));
  }
  return {};
}

}  // namespace sojourn::capture
