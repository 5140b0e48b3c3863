// Depths, waits and rates of a queue from the instants at which items enter and leave.
#include "analysis/queues/meter.h"

#include <cmath>
#include <deque>
#include <random>

#include <catch2/catch_approx.hpp>
#include <catch2/catch_test_macros.hpp>

namespace sojourn::queues {
namespace {

using Catch::Approx;

void pass(Meter& meter, std::uint64_t entered_ns, std::uint64_t left_ns) {
  meter.leave(left_ns, true);
  meter.stayed(entered_ns, left_ns);
}

TEST_CASE("depths are weighted by how long they lasted, empty stretches are counted") {
  Meter meter;
  meter.begin(100);
  meter.enter(200);
  meter.enter(300);
  pass(meter, 200, 400);
  pass(meter, 300, 600);
  meter.end(1100);
  CHECK(meter.levels().at_ns(0) == 600);
  CHECK(meter.levels().at_ns(1) == 300);
  CHECK(meter.levels().at_ns(2) == 100);
  CHECK(meter.empty_stretches().count == 2);
  CHECK(meter.empty_stretches().total_ns == 600);
  CHECK(meter.empty_stretches().longest_ns == 500);
  CHECK(*meter.utilisation() == Approx(0.4));
  CHECK(meter.in() == 2);
  CHECK(meter.out() == 2);
}

TEST_CASE("the high-water mark knows when it came, and since when it had not been empty") {
  Meter meter;
  meter.begin(0);
  meter.enter(10);
  pass(meter, 10, 20);
  meter.enter(50);
  meter.enter(60);
  meter.enter(70);
  pass(meter, 50, 80);
  meter.enter(90);
  meter.end(100);
  CHECK(meter.high_water().depth == 3);
  CHECK(meter.high_water().ts_ns == 70);
  CHECK(meter.high_water().since_ns == 50);
}

TEST_CASE("units that are given up before the end make a depth meaningless") {
  Meter meter;
  meter.begin(0);
  meter.enter(0);
  meter.enter(100);
  meter.leave(800, false);
  meter.lingered(0);
  pass(meter, 100, 900);
  CHECK(meter.given_up() == 1);
  CHECK(meter.given_up_share() == Approx(0.5));
  CHECK_FALSE(meter.is_depth_known());
  meter.enter(900);
  meter.leave(1000, false);
  meter.lingered(900);
  meter.enter(1100);
  // The capture's end proves nothing: an item that is inside then may leave later.
  meter.leave(1200, false);
  meter.lingered(1100);
  meter.end(1200);
  CHECK(meter.given_up() == 2);
  CHECK(meter.inside() == 1);
  CHECK(meter.given_up_share() == Approx(0.5));
}

// A hundred waits of 10 us, a millisecond apart.
void serve(Meter& meter, std::uint64_t from_ns) {
  for (std::uint64_t at = from_ns; at < from_ns + 100'000'000; at += 1'000'000) {
    meter.enter(at);
    pass(meter, at, at + 10'000);
  }
}

TEST_CASE("a unit that is inside far longer than later ones that left is given up") {
  constexpr std::uint64_t kEnd = 3'000'000'000;
  const auto given_up = [](std::uint64_t end_ns, std::uint64_t entered_ns,
                           std::uint64_t served_ns) {
    Meter meter;
    meter.begin(0);
    if (entered_ns < served_ns) meter.enter(entered_ns);
    serve(meter, served_ns);
    if (entered_ns >= served_ns) meter.enter(entered_ns);
    meter.leave(end_ns, false);
    meter.lingered(entered_ns);
    meter.end(end_ns);
    CHECK(meter.inside() == 1);
    CHECK(meter.is_depth_known() == (meter.given_up() == 0));
    return meter.given_up();
  };
  CHECK(given_up(kEnd, 500, 1'000'000) == 1);
  CHECK(given_up(900'000'000, 500, 1'000'000) == 0);   // it may have to wait once
  CHECK(given_up(kEnd, 200'000'000, 1'000'000) == 0);  // no item left since: the server stopped
}

TEST_CASE("a depth with few units that were given up is known") {
  Meter meter;
  meter.begin(0);
  CHECK(meter.is_depth_known());
  meter.enter(0);
  meter.enter(0);
  meter.leave(50, false);
  meter.lingered(0);
  pass(meter, 0, 1000);
  meter.end(2000);
  CHECK(meter.given_up() == 1);
  CHECK(meter.given_up_share() == Approx(50.0 / 1050));
  CHECK(meter.is_depth_known());
}

TEST_CASE("a high-water mark that is reported late is not before the queue was filled") {
  Meter meter;
  meter.begin(0);
  meter.enter(10);
  pass(meter, 10, 50);
  meter.enter(40);
  meter.enter(45);
  CHECK(meter.high_water().depth == 2);
  CHECK(meter.high_water().since_ns == 50);
  CHECK(meter.high_water().ts_ns == 50);
}

TEST_CASE("service times are the server's times for an item, and fill the busy time") {
  Meter meter;
  meter.begin(0);
  meter.enter(100);
  meter.enter(110);
  pass(meter, 100, 200);
  pass(meter, 110, 250);
  meter.enter(400);
  pass(meter, 400, 430);
  meter.end(1000);
  CHECK(meter.service_ns().count() == 3);
  CHECK(meter.service_ns().mean() == Approx((100 + 50 + 30) / 3.0));
  CHECK(meter.waits_ns().max() == 140);
  CHECK(*meter.utilisation() * 1000 == Approx(180));
}

TEST_CASE("an item that is given up leaves without a wait") {
  Meter meter;
  meter.begin(0);
  meter.enter(10);
  meter.leave(20, false);
  meter.enter(22);
  pass(meter, 22, 25);
  meter.end(30);
  CHECK(meter.out() == 1);
  CHECK(meter.depth() == 0);
  CHECK(meter.waits_ns().count() == 1);
  CHECK(*meter.utilisation() == Approx(13 / 30.0));
  CHECK(meter.served() == Approx(3 / 30.0));
}

TEST_CASE("units at the end are inside, and units that were given up are not") {
  Meter meter;
  meter.begin(0);
  for (const std::uint64_t ts_ns : {10, 11, 12, 13}) meter.enter(ts_ns);
  meter.leave(20, false);
  meter.leave(25, true);
  meter.leave(30, false);
  meter.leave(30, false);
  meter.end(30);
  CHECK(meter.in() == 4);
  CHECK(meter.out() == 1);
  CHECK(meter.inside() == 2);
  CHECK(meter.levels().at_ns(2) == 1 + 5);  // they were, until the end
}

TEST_CASE("a unit that leaves without having come does not make a depth negative") {
  Meter meter;
  meter.begin(0);
  meter.leave(10, true);
  meter.end(30);
  CHECK(meter.depth() == 0);
  CHECK(meter.levels().at_ns(0) == 30);
}

// One server, arrivals at random, service of exponential or fixed length: the mean time in an
// M/M/1 queue is 1 / (mu - lambda), in an M/D/1 queue half of the waiting.
double simulate(bool is_fixed, Meter& meter) {
  std::mt19937_64 random(7);
  std::exponential_distribution<double> between(1.0 / 1000);
  std::exponential_distribution<double> service(1.0 / 700);
  double arrives = 0;
  double free = 0;
  std::deque<std::pair<std::uint64_t, std::uint64_t>> inside;  // came, leaves
  meter.begin(0);
  const auto leave_until = [&](double now) {
    while (!inside.empty() && static_cast<double>(inside.front().second) <= now) {
      pass(meter, inside.front().first, inside.front().second);
      inside.pop_front();
    }
  };
  for (int item = 0; item < 200'000; ++item) {
    arrives += between(random);
    leave_until(arrives);
    free = std::max(free, arrives) + (is_fixed ? 700 : service(random));
    meter.enter(static_cast<std::uint64_t>(arrives));
    inside.emplace_back(static_cast<std::uint64_t>(arrives), static_cast<std::uint64_t>(free));
  }
  leave_until(1e300);
  meter.end(static_cast<std::uint64_t>(free) + 1);
  return meter.waits_ns().mean();
}

TEST_CASE("Kingman's approximation is near the measured wait where it should be") {
  Meter random_service;
  const double measured = simulate(false, random_service);
  REQUIRE(random_service.predicted_ns());
  CHECK(measured == Approx(700 / 0.3).epsilon(0.1));
  CHECK(*random_service.predicted_ns() == Approx(measured).epsilon(0.1));
  CHECK(random_service.between_ns().scv() == Approx(1).epsilon(0.05));
  CHECK(random_service.service_ns().scv() == Approx(1).epsilon(0.05));

  Meter fixed_service;
  const double steady = simulate(true, fixed_service);
  CHECK(steady == Approx(700 + 0.5 * 0.7 / 0.3 * 700).epsilon(0.1));
  CHECK(*fixed_service.predicted_ns() == Approx(steady).epsilon(0.1));
}

TEST_CASE("Little's law holds for measured depths, rates and waits") {
  Meter meter;
  simulate(false, meter);
  CHECK(meter.arrivals_times_wait() == Approx(meter.levels().mean()).epsilon(0.001));
}

TEST_CASE("a server that cannot keep up, or has few items, has no prediction") {
  Moments between;
  Moments service;
  for (int i = 0; i < 200; ++i) {
    between.add(100);
    service.add(110);
  }
  CHECK_FALSE(kingman(between, service));
  Moments few;
  few.add(10);
  CHECK_FALSE(kingman(between, few));
}

TEST_CASE("a depth over time keeps its mean and its peaks, however long it lasts") {
  DepthSeries series;
  constexpr std::uint64_t kStep = 10'000;
  double weighted = 0;
  for (std::uint64_t at = 0; at < 1'000'000; ++at) {
    const std::uint64_t depth = at == 777'777 ? 99 : at % 5;
    series.add(depth, at * kStep, (at + 1) * kStep);
    weighted += static_cast<double>(depth * kStep);
  }
  CHECK(series.stretches().size() <= DepthSeries::kMaxStretches);
  CHECK(series.stretches().size() > DepthSeries::kMaxStretches / 2);
  double sum = 0;
  for (const DepthSeries::Stretch& stretch : series.stretches()) sum += stretch.weighted_ns;
  CHECK(sum == Approx(weighted));
  CHECK(series.stretches()[777'777 * kStep / series.stretch_ns()].max == 99);
}

TEST_CASE("the mean of a stretch covers the part of it with a known depth") {
  constexpr std::uint64_t kStretch = DepthSeries::kFinestNs;
  DepthSeries series;
  series.add(4, 0, kStretch);
  series.add(2, kStretch, kStretch + 30'000);
  series.add(8, 3 * kStretch + 90'000, 4 * kStretch + 10'000);
  REQUIRE(series.stretches().size() == 5);
  CHECK(*series.mean(0) == Approx(4));
  CHECK(*series.mean(1) == Approx(2));
  CHECK_FALSE(series.mean(2));
  CHECK(*series.mean(3) == Approx(8));
  CHECK(*series.mean(4) == Approx(8));
}

TEST_CASE("a series takes any times that a file may hold") {
  DepthSeries series;
  series.add(1, 5, 6);
  series.add(2, UINT64_MAX - 10, UINT64_MAX);
  series.add(3, 2, 1);
  CHECK(series.stretches().size() <= DepthSeries::kMaxStretches);
  CHECK(series.stretches().back().max == 2);
}

}  // namespace
}  // namespace sojourn::queues
