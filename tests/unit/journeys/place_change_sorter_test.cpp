// Entering and leaving is reported in the order of time, even if it becomes known late.
#include "analysis/journeys/place_change_sorter.h"

#include <algorithm>
#include <random>
#include <string>
#include <vector>

#include <catch2/catch_test_macros.hpp>
#include <fmt/format.h>

#include "tests/unit/journeys/world.h"

namespace sojourn::journeys {
namespace {

class Times : public Observer {
 public:
  explicit Times(bool order = true) : order_(order) {}
  bool wants_order() const override { return order_; }
  void on_enter(std::uint16_t place, std::uint64_t ts_ns) override {
    told.push_back(ts_ns);
    words += fmt::format("+{}:{} ", place, ts_ns);
  }
  void on_leave(std::uint16_t place, std::uint64_t entered_ns, std::uint64_t ts_ns,
                bool seen) override {
    told.push_back(ts_ns);
    words += fmt::format("{}{}:{}..{} ", seen ? '-' : '~', place, entered_ns, ts_ns);
  }

  std::vector<std::uint64_t> told;
  std::string words;

 private:
  bool order_;
};

TEST_CASE("a unit without a parent is reported at its time") {
  World world(R"(
    D in--a len:rnti:sn
    D a--b len:rnti:sn
    D b--out len:rnti:sn
  )");
  world.events(R"(
    1000000 t1 D in--a 1000 1 7
    1000100 t2 D a--b 1000 1 9
    1000200 t3 D a--b 1000 1 7
    1000300 t2 D b--out 1000 1 9
    1000400 t3 D b--out 1000 1 7
    1100000 t1 D in--a 1000 1 8
  )");
  world.journeys();
  CHECK(world.stays("a") == "a +1000000 -1000200 +1100000 ~1100000");
  CHECK(world.stays("b") == "b +1000100 +1000200 -1000300 -1000400");
}

TEST_CASE("calls are made at once while nothing waits, else when nothing waits any more") {
  Times times;
  PlaceChangeSorter places(times, 20'000);
  places.enter(1, 100);
  CHECK(times.words == "+1:100 ");
  places.begin_wait();
  places.begin_wait();
  places.enter(2, 150);
  places.leave(1, 100, 170, true);
  places.enter(3, 120);
  places.leave(2, 150, 150, false);  // of equal stamps the one known first comes first
  places.end_wait();
  CHECK(times.words == "+1:100 ");
  places.end_wait();
  CHECK(times.words == "+1:100 +3:120 +2:150 ~2:150..150 -1:100..170 ");
  places.leave(3, 120, 180, true);
  CHECK(times.words.ends_with("-3:120..180 "));
}

TEST_CASE("an observer that does not want the order gets calls as they become known") {
  Times times(false);
  PlaceChangeSorter places(times, 20'000);
  places.begin_wait();
  places.enter(1, 200);
  places.enter(2, 100);
  CHECK(times.words == "+1:200 +2:100 ");
  places.end_wait();
  CHECK(times.told.size() == 2);
}

TEST_CASE("changes that nothing can precede any more are reported in order during any wait") {
  constexpr std::uint64_t kLate = 20'000;
  constexpr std::size_t kChanges = 200'000;
  std::minstd_rand random(7);
  Times times;
  PlaceChangeSorter places(times, kLate);
  places.begin_wait();
  std::vector<std::uint64_t> all;
  std::size_t most_held = 0;
  for (std::size_t i = 0; i < kChanges; ++i) {
    all.push_back(1'000'000 + 100 * i - (random() % 4 == 0 ? random() % kLate : 0));
    places.enter(0, all.back());
    most_held = std::max(most_held, all.size() - times.told.size());
  }
  places.end_wait();
  std::ranges::sort(all);
  CHECK(times.told == all);
  CHECK(most_held < 1000);
}

TEST_CASE("only a limited number of changes with one stamp is held") {
  constexpr std::size_t kChanges = 200'000;
  Times times;
  PlaceChangeSorter places(times, 20'000);
  places.begin_wait();
  for (std::size_t i = 0; i < kChanges; ++i) places.enter(0, 1000);
  CHECK(times.told.size() > kChanges / 2);
  places.end_wait();
  CHECK(times.told.size() == kChanges);
}

}  // namespace
}  // namespace sojourn::journeys
