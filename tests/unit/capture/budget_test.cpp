// The points that are shed, and the times of their return, for a made-up target.
#include "userspace/capture/budget.h"

#include <algorithm>
#include <vector>

#include <catch2/catch_test_macros.hpp>

namespace sojourn::capture {
namespace {

constexpr std::uint64_t kStepNs = 100'000'000;

// A process that uses half a CPU, and hits its points so often a second while they are on.
class Target {
 public:
  Target(double share, const std::vector<BudgetPoint>& points, std::vector<std::uint64_t> rates)
      : Target(BudgetLimits{.share = share}, points, std::move(rates)) {}
  Target(const BudgetLimits& limits, const std::vector<BudgetPoint>& points,
         std::vector<std::uint64_t> rates)
      : budget_(limits, points),
        rates_(std::move(rates)),
        hits_(rates_.size()),
        is_on_(rates_.size(), true) {}

  void set_points(const std::vector<BudgetPoint>& points, std::vector<std::uint64_t> rates) {
    budget_.set_points(points);
    rates_ = std::move(rates);
    hits_.resize(points.size());
    is_on_.resize(points.size(), true);
  }

  void set_rates(std::vector<std::uint64_t> rates) { rates_ = std::move(rates); }

  // Runs steps of 100 ms, and returns all decisions.
  Budget::Decision run(int steps) {
    Budget::Decision all;
    for (int step = 0; step < steps; ++step) {
      now_ns_ += kStepNs;
      cpu_ns_ += kStepNs / 2;
      for (std::size_t point = 0; point < hits_.size(); ++point)
        if (is_on_[point]) hits_[point] += rates_[point] / 10;
      const auto decision = budget_.look(now_ns_, hits_, cpu_ns_);
      for (const auto point : decision.shed) is_on_[point] = false;
      for (const auto point : decision.restored) is_on_[point] = true;
      all.shed.insert(all.shed.end(), decision.shed.begin(), decision.shed.end());
      all.restored.insert(all.restored.end(), decision.restored.begin(), decision.restored.end());
    }
    return all;
  }

  std::vector<bool> is_on() const { return is_on_; }

 private:
  Budget budget_;
  std::vector<std::uint64_t> rates_;
  std::vector<std::uint64_t> hits_;
  std::vector<bool> is_on_;
  std::uint64_t now_ns_ = 0;
  std::uint64_t cpu_ns_ = 0;
};

const std::vector<BudgetPoint> kThree = {
    {.hit_ps = 500'000}, {.hit_ps = 500'000}, {.hit_ps = 500'000}};

TEST_CASE("a budget that is kept sheds nothing") {
  Target target(0.02, kThree, {1000, 5000, 1000});  // 0.7 %
  const auto decided = target.run(50);
  CHECK(decided.shed.empty());
  CHECK(decided.restored.empty());
}

TEST_CASE("the most expensive point goes first, and no more than has to") {
  Target target(0.02, kThree, {1000, 50'000, 2000});  // 5.3 %, of which 5 % are one point's
  const auto decided = target.run(5);
  CHECK(decided.shed == std::vector<model::PointId>{1});
  CHECK(target.is_on() == std::vector<bool>{true, false, true});
}

TEST_CASE("a budget counts the cost of hits, not only their number") {
  Target target(0.02, {{.hit_ps = 10'000}, {.hit_ps = 500'000}}, {60'000, 50'000});
  CHECK(target.run(5).shed == std::vector<model::PointId>{1});
}

TEST_CASE("points that give all others their meaning are never shed") {
  Target target(0.001, {{.hit_ps = 500'000, .turn = ShedTurn::kNever}, {.hit_ps = 500'000}},
                {50'000, 50'000});
  target.run(100);
  CHECK(target.is_on()[0]);
}

TEST_CASE("all points come back when the load stops") {
  Target target(0.001, kThree, {50'000, 40'000, 30'000});
  target.run(5);
  REQUIRE(target.is_on() == std::vector<bool>{false, false, false});
  target.set_rates({0, 0, 0});
  const auto decided = target.run(150);
  CHECK(decided.shed.empty());
  CHECK(target.is_on() == std::vector<bool>{true, true, true});
}

TEST_CASE("trials that fail grow rarer") {
  Target target(0.001, kThree, {50'000, 40'000, 30'000});
  target.run(5);
  const auto early = target.run(100).restored.size();
  target.run(300);
  const auto late = target.run(100).restored.size();
  CHECK(early > 0);
  CHECK(late < early);
  CHECK(late <= 2);
}

TEST_CASE("points that come later are shed as well, and the others stay as they are") {
  Target target(0.02, {kThree.front()}, {1000});
  CHECK(target.run(20).shed.empty());
  target.set_points(kThree, {1000, 50'000, 2000});
  CHECK(target.run(5).shed == std::vector<model::PointId>{1});
  target.set_points(kThree, {1000, 50'000, 2000});
  CHECK(target.is_on() == std::vector<bool>{true, false, true});
}

TEST_CASE("scalars go before any path, however cheap they are") {
  Target target(0.02, {{.hit_ps = 500'000}, {.hit_ps = 500'000, .turn = ShedTurn::kFirst}},
                {13'000, 10'000});  // 2.3 %, of which 1 % are the scalar's
  CHECK(target.run(5).shed == std::vector<model::PointId>{1});
  target.set_rates({50'000, 10'000});
  CHECK(target.run(10).shed == std::vector<model::PointId>{0});
}

TEST_CASE("the points of a path go off together, and come back together before any scalar") {
  const BudgetPoint of_path{.hit_ps = 500'000, .turn = ShedTurn::kPath, .group = 7};
  Target target(0.001, {of_path, {.hit_ps = 500'000, .turn = ShedTurn::kFirst}, of_path, of_path},
                {1000, 100, 90'000, 0});
  CHECK(target.run(5).shed == std::vector<model::PointId>{1, 0, 2, 3});
  target.set_rates({0, 0, 0, 0});
  CHECK(target.run(40).restored == std::vector<model::PointId>{0, 2, 3, 1});
}

TEST_CASE("the most expensive path goes, not the most expensive point") {
  const auto of = [](std::uint32_t path) {
    return BudgetPoint{.hit_ps = 500'000, .turn = ShedTurn::kPath, .group = path};
  };
  Target target(0.02, {of(1), of(2), of(2), of(2)}, {12'000, 9000, 9000, 9000});  // 3.9 %
  CHECK(target.run(5).shed == std::vector<model::PointId>{1, 2, 3});
}

TEST_CASE("a budget of a busy target is limited to a share of one processor") {
  // The share allows 60 % of the half processor that the target uses.
  Target target({.share = 0.6, .most = 0.01}, kThree, {10'000, 11'000, 12'000});
  CHECK(target.run(5).shed == std::vector<model::PointId>{2, 1});
}

TEST_CASE("a cost of next to no processor time cuts no journey") {
  const BudgetLimits limits{.share = 0.001, .least = 0.005};
  CHECK(Target(limits, kThree, {3000, 3000, 3000}).run(50).shed.empty());
  CHECK(Target(limits, kThree, {3000, 3000, 5000}).run(5).shed == std::vector<model::PointId>{2});
}

TEST_CASE("a budget does not decide from a short moment") {
  Target target(0.001, kThree, {50'000, 40'000, 30'000});
  CHECK(target.run(2).shed.empty());
}

}  // namespace
}  // namespace sojourn::capture
