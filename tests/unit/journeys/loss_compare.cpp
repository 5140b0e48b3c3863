#include "tests/unit/journeys/loss_compare.h"

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "analysis/journeys/units/intervals.h"

namespace sojourn::journeys {
namespace {

using truth::HitId;
using truth::Truth;

constexpr std::size_t kMaxWords = 5;

using Hits = std::set<std::size_t>;

class Judge : public Observer {
 public:
  Judge(const Truth& truth, std::span<const Observation> observations)
      : truth_(truth),
        observations_(observations),
        stamps_(truth.hits.size()),
        children_(truth.hits.size()) {
    for (const auto& observation : observations) stamps_[observation.hit] = observation.ts_ns;
    for (std::size_t i = 0; i < truth.hits.size(); ++i)
      for (const auto parent : truth.hits[i].parents) children_[index(parent)].push_back(i);
  }

  void know(const Topology& topology) { topology_ = &topology; }

  void on_journey(const Journey& journey) override {
    const bool down = journey.direction == model::Direction::kDownlink;
    const auto at = hit(journey.steps[down ? 0 : journey.end_step]);
    if (journey.outcome != Outcome::kComplete) {
      if (journey.outcome == Outcome::kCensored) censored_.insert(at);
      others_[at] = fmt::format("{}:\n{}", name(journey.outcome), words(journey));
      return;
    }
    ++found.complete;
    known_.insert(at);
    const auto wrong = what_is_wrong(journey, down);
    if (wrong.empty()) return;
    ++(journey.ambiguous ? found.doubtful : found.invented);
    if (!journey.ambiguous) tell(fmt::format("invented, {}:\n{}", wrong, words(journey)));
  }

  // After all journeys.
  LossComparison finish(const std::vector<bool>& seen) {
    for (std::size_t i = 0; i < truth_.hits.size(); ++i) {
      const auto& plan = topology_->points[truth_.hits[i].point];
      const bool down = plan.direction == model::Direction::kDownlink;
      if (down ? !plan.input : !plan.output) continue;
      const auto reached = down ? ahead(i) : behind(i);
      if (!std::ranges::all_of(reached, [&](std::size_t at) { return seen[at]; })) continue;
      if (down && !is_whole(i, reached)) continue;
      ++found.seen;
      if (known_.contains(i)) continue;
      if (censored_.contains(i)) {
        ++found.withheld;
        continue;
      }
      ++found.missed;
      const auto other = others_.find(i);
      tell(fmt::format("missed: #{} {} [{}] {}", i, truth_.points[truth_.hits[i].point].where,
                       fmt::join(truth_.hits[i].values, " "),
                       other == others_.end() ? "" : other->second));
    }
    return std::move(found);
  }

  LossComparison found;

 private:
  std::size_t index(HitId id) const { return truth_.hit_by_id.at(id); }
  std::size_t hit(const Step& step) const { return observations_[step.seq].hit; }
  void tell(std::string text) {
    if (found.words.size() < kMaxWords) found.words.push_back(std::move(text));
  }

  Hits ahead(std::size_t root) const {
    Hits reached = {root};
    std::vector<std::size_t> pending = {root};
    while (!pending.empty()) {
      const auto at = pending.back();
      pending.pop_back();
      for (const auto child : children_[at])
        if (reached.insert(child).second) pending.push_back(child);
    }
    return reached;
  }

  Hits behind(std::size_t end) const {
    Hits reached = {end};
    std::vector<std::size_t> pending = {end};
    const auto visit = [&](HitId id) {
      if (id != 0 && reached.insert(index(id)).second) pending.push_back(index(id));
    };
    while (!pending.empty()) {
      const auto& at = truth_.hits[pending.back()];
      pending.pop_back();
      for (const auto parent : at.parents) visit(parent);
      visit(at.repeat_of);
    }
    return reached;
  }

  // Returns whether all bytes of the packet that entered here came out.
  bool is_whole(std::size_t root, const Hits& reached) const {
    const auto packet = truth_.hits[root].pieces[0].packet;
    IntervalSet out;
    for (const auto at : reached)
      if (topology_->points[truth_.hits[at].point].output)
        for (const auto& piece : truth_.hits[at].pieces)
          if (piece.packet == packet) out.add({piece.lo, piece.hi});
    return out.holds({0, truth_.find_packet(packet)->bytes});
  }

  std::string what_is_wrong(const Journey& journey, bool down) const {
    Hits hits;
    for (const auto& step : journey.steps) {
      const auto& true_hit = truth_.hits[hit(step)];
      hits.insert(hit(step));
      for (const auto parent : step.parents)
        if (std::ranges::find(true_hit.parents, truth_.hits[hit(journey.steps[parent])].id) ==
            true_hit.parents.end())
          return fmt::format("#{} is no parent of #{}", hit(journey.steps[parent]), hit(step));
      if (step.repeat_of != kNoStep && !repeats(hit(step), hit(journey.steps[step.repeat_of])))
        return fmt::format("#{} is no repeat of #{}", hit(step),
                           hit(journey.steps[step.repeat_of]));
    }
    return down ? wrong_down(journey) : wrong_up(journey, hits);
  }

  // Hits between the two may have been lost.
  bool repeats(std::size_t later, std::size_t earlier) const {
    for (auto at = later; truth_.hits[at].repeat_of != 0;) {
      at = index(truth_.hits[at].repeat_of);
      if (at == earlier) return true;
    }
    // Pieces of one unit that overlap, of which another one was repeated first.
    return truth_.hits[later].repeat_of != 0 &&
           std::ranges::equal(truth_.hits[later].parents, truth_.hits[earlier].parents);
  }

  std::string wrong_down(const Journey& journey) const {
    const auto root = hit(journey.steps[0]);
    if (!topology_->points[truth_.hits[root].point].input) return "it begins inside";
    Hits out;
    for (const auto& step : journey.steps)
      if (step.ts_ns <= journey.end_ns) out.insert(hit(step));
    return is_whole(root, out) ? "" : "not all of it came out";
  }

  // Receptions that a later round repeats may be missing, but not the first one.
  std::string wrong_up(const Journey& journey, const Hits& hits) const {
    auto start_ns = journey.end_ns;
    for (const auto at : behind(hit(journey.steps[journey.end_step]))) {
      const auto& true_hit = truth_.hits[at];
      start_ns = std::min(start_ns, stamps_[at]);
      if (!hits.contains(at) && true_hit.repeat_of == 0)
        return fmt::format("#{} {} [{}] is missing", at, truth_.points[true_hit.point].where,
                           fmt::join(true_hit.values, " "));
    }
    return start_ns == journey.start_ns ? "" : "it began earlier";
  }

  std::string words(const Journey& journey) const {
    std::string text;
    for (std::size_t i = 0; i < journey.steps.size(); ++i) {
      const auto& step = journey.steps[i];
      fmt::format_to(std::back_inserter(text), "    #{} at {} {} [{}] from {}{}{}\n", hit(step),
                     step.ts_ns, truth_.points[step.point].where, fmt::join(step.values, " "),
                     fmt::join(step.parents, ","),
                     step.repeat_of == kNoStep ? "" : fmt::format(" repeats {}", step.repeat_of),
                     i == journey.end_step ? " END" : "");
    }
    return text;
  }

  const Truth& truth_;
  std::span<const Observation> observations_;
  const Topology* topology_ = nullptr;
  std::vector<std::uint64_t> stamps_;  // by hit
  std::vector<std::vector<std::size_t>> children_;
  Hits known_;     // inputs (D) and outputs (U) of journeys that were found complete
  Hits censored_;  // the hits of journeys that were called cut
  std::map<std::size_t, std::string> others_;  // all other incomplete journeys, in words
};

}  // namespace

Result<LossComparison> compare_with_losses(const Truth& truth,
                                           std::span<const Observation> observations,
                                           const std::vector<bool>& kept) {
  model::Schema schema;
  for (const auto& point : truth.points)
    if (auto parsed = model::parse_point(point.where, point.fields))
      schema.points.push_back(std::move(*parsed));
  Judge judge(truth, observations);
  SJ_TRY(rebuilder,
         Rebuilder::create(schema, Rules{}, {.open_ns = observations.front().ts_ns}, judge));
  judge.know(rebuilder.topology());
  std::vector<bool> seen(truth.hits.size());
  model::EventBatch batch;
  for (std::size_t i = 0; i < observations.size(); ++i) {
    const auto& hit = truth.hits[observations[i].hit];
    if (!kept[i]) {
      ++judge.found.lost;
      continue;
    }
    seen[observations[i].hit] = true;
    batch.append({observations[i].ts_ns, i, 0, hit.tid, hit.point, hit.values});
  }
  rebuilder.consume(batch);
  rebuilder.finish();
  judge.found.totals = rebuilder.totals();
  return judge.finish(seen);
}

}  // namespace sojourn::journeys
