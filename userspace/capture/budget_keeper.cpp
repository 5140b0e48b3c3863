#include "userspace/capture/budget_keeper.h"

#include <cstddef>
#include <map>
#include <set>
#include <string>
#include <utility>

#include <fmt/core.h>

#include "userspace/base/clock.h"

namespace sojourn::capture {

namespace {

constexpr std::uint64_t kBudgetPeriodNs = 100'000'000;

}  // namespace

BudgetKeeper::BudgetKeeper(const Options& options, TracedProcesses& processes,
                           const ProcessRecorder& recorder, SourceSet& sources,
                           CaptureRecord& record, CaptureOutput& output, EventPump& pump)
    : options_(&options),
      processes_(&processes),
      recorder_(&recorder),
      sources_(&sources),
      record_(&record),
      output_(&output),
      pump_(&pump) {}

Result<void> BudgetKeeper::start() {
  if (!options_->budget) return {};
  const std::string& why = recorder_->costs().why_unknown();
  if (!why.empty() && !options_->budget->is_default)
    return fail("keep to a budget: the cost of a hit is not known: {}", why);
  if (is_needed()) budget_.emplace(*options_->budget, budget_points());
  return {};
}

// Captures by rings alone have no default budget: rings are too cheap for one.
bool BudgetKeeper::is_needed() const {
  return options_->budget && (!options_->budget->is_default || sources_->has_bpf());
}

std::vector<BudgetPoint> BudgetKeeper::budget_points() const {
  std::set<model::PointId> by_bpf;
  std::set<model::PointId> optional;
  for (const BpfEngine* engine : sources_->bpf())
    for (const tracee::Site& site : engine->points().sites) {
      by_bpf.insert(site.point);
      if (site.is_optional) optional.insert(site.point);
    }
  const ShedPlan plan = plan_shedding(recorder_->schema(), optional);
  std::vector<BudgetPoint> points;
  for (std::size_t point = 0; point < plan.group.size(); ++point) {
    const bool counts =
        !options_->budget->is_default || by_bpf.contains(static_cast<model::PointId>(point));
    points.push_back({.hit_ps = counts ? record_->hit_cost_ps(point) : 0,
                      .turn = plan.turn[point],
                      .group = plan.group[point]});
  }
  return points;
}

// If these are the first points that eBPF records, only now it shows that costs are unknown.
void BudgetKeeper::on_new_points(const Listener& listener) {
  if (!is_needed()) return;
  const std::string& why = recorder_->costs().why_unknown();
  if (!why.empty() && !std::exchange(has_said_no_costs_, true))
    listener.say(fmt::format(
        "not kept to the budget: what eBPF records, as its costs are not known: {}", why));
  if (budget_)
    budget_->set_points(budget_points());
  else
    budget_.emplace(*options_->budget, budget_points());
}

// A shed span begins before the first hit can be missing, and ends once none is missing any more.
Result<void> BudgetKeeper::switch_points(const std::vector<model::PointId>& points, bool on) {
  if (!on) record_->begin_shedding(points);
  for (const SourceEntry& one : sources_->entries()) {
    if (one.engine == nullptr) continue;
    // A process that just ended cannot be attached to.
    if (auto switched = one.engine->switch_points(points, on);
        !switched && one.process->process.alive())
      return switched;
  }
  if (on) record_->end_shedding(points);
  record_->write_shed(output_->sink());
  return {};
}

Result<void> BudgetKeeper::tick(const Listener& listener) {
  const std::uint64_t now_ns = base::monotonic_ns();
  if (!budget_ || !record_->is_open() || now_ns < next_look_ns_ || !processes_->any_alive())
    return {};
  next_look_ns_ = now_ns + kBudgetPeriodNs;
  SJ_TRY(hits, pump_->hits_by_point());
  const Budget::Decision decision = budget_->look(now_ns, hits, processes_->cpu_ns());
  if (!decision.shed.empty()) {
    SJ_CHECK(switch_points(decision.shed, false));
    listener.say(fmt::format("shed {}: tracing took {:.3g} % of the target's CPU, {}{}",
                             words(decision.shed), 100 * decision.share,
                             limit_words(decision.allowed),
                             budget_->limits().is_default && !std::exchange(has_said_how_, true)
                                 ? ". --budget none keeps all points on"
                                 : ""));
  }
  if (!decision.restored.empty()) {
    SJ_CHECK(switch_points(decision.restored, true));
    listener.say(fmt::format("brought back {}{}", words(decision.restored),
                             budget_->is_whole() ? ": all points are on again" : ""));
  }
  return {};
}

// Names the first point and counts all: "gtpu.rx--pdcp.tx and 16 more (9 of D, 8 of U)".
std::string BudgetKeeper::words(const std::vector<model::PointId>& points) const {
  const auto& all = output_->schema().points;
  std::string text = all[points.front()].name();
  if (points.size() == 1) return text;
  std::map<char, std::size_t> by_direction;
  for (const model::PointId point : points) ++by_direction[model::letter(all[point].direction)];
  text += fmt::format(" and {} more (", points.size() - 1);
  for (const auto& [direction, count] : by_direction)
    text += fmt::format("{}{} of {}", text.ends_with('(') ? "" : ", ", count, direction);
  return text + ")";
}

// A target that hardly runs may spend a larger share than the budget's on tracing.
std::string BudgetKeeper::limit_words(double allowed) const {
  const BudgetLimits& limits = budget_->limits();
  if (allowed <= limits.share) return fmt::format("the budget is {:.3g} %", 100 * allowed);
  return fmt::format("and {:.3g} % is what {:.3g} % of a processor allows", 100 * allowed,
                     100 * limits.least);
}

}  // namespace sojourn::capture
