// The points that are reported to the user while a capture runs.
#include "userspace/capture/hit_watch.h"

#include <string>
#include <vector>

#include <catch2/catch_test_macros.hpp>

namespace sojourn::capture {
namespace {

constexpr std::uint64_t kSecond = 1'000'000'000;
constexpr std::uint64_t kHitPs = 500'000;  // half a microsecond

std::vector<WatchedPoint> points(std::size_t count) {
  return std::vector<WatchedPoint>(count, WatchedPoint{.hit_ps = kHitPs});
}

TEST_CASE("a point that takes more than its share of the target's CPU is reported, once") {
  HitWatch watch(kSecond);
  const auto watched = points(2);
  // The second point: 200,000 hits a second of half a microsecond are a tenth of a processor.
  const auto look = [&](std::uint64_t second) {
    const std::vector<std::uint64_t> hits = {second * 1000, second * 200'000};
    return watch.look(second * kSecond, watched, hits, second * kSecond).hot;
  };
  CHECK(look(1).empty());  // no earlier look to compare with yet
  const auto hot = look(2);
  REQUIRE(hot.size() == 1);
  CHECK(hot[0].point == 1);
  CHECK(hot[0].hits_a_second == 200'000);
  CHECK(hot[0].share == 0.1);
  CHECK(look(3).empty());
}

TEST_CASE("hits that take little of a processor are not reported, whatever else the target does") {
  HitWatch watch(kSecond);
  const auto look = [&](std::uint64_t second) {
    // 10,000 a second: half a percent of a processor, which is all the time that the target uses.
    return watch.look(second * kSecond, points(1), std::vector{second * 10'000},
                      second * kSecond / 200);
  };
  CHECK(look(1).hot.empty());
  CHECK(look(4).hot.empty());
}

TEST_CASE("points within a budget, and points that are not the target's, are not reported") {
  HitWatch watch(kSecond);
  auto watched = points(3);
  watched[0].is_hot_news = false;
  watched[1].is_targets = false;
  const auto look = [&](std::uint64_t second) {
    const std::vector<std::uint64_t> hits(3, second * 200'000);
    return watch.look(second * kSecond, watched, hits, second * kSecond).hot;
  };
  CHECK(look(1).empty());
  const auto hot = look(2);
  REQUIRE(hot.size() == 1);
  CHECK(hot[0].point == 2);
}

TEST_CASE("the hottest comes first") {
  HitWatch watch(kSecond);
  const auto look = [&](std::uint64_t second) {
    const std::vector<std::uint64_t> hits = {second * 200'000, second * 400'000};
    return watch.look(second * kSecond, points(2), hits, second * kSecond).hot;
  };
  look(1);
  const auto hot = look(2);
  REQUIRE(hot.size() == 2);
  CHECK(hot[0].point == 1);
}

TEST_CASE("a window too short to say anything says nothing, and is not forgotten") {
  HitWatch watch(kSecond);
  const auto look = [&](std::uint64_t ns, std::uint64_t hits) {
    return watch.look(ns, points(1), std::vector{hits}, ns).hot;
  };
  look(kSecond, 0);
  CHECK(look(kSecond + 100'000'000, 20'000).empty());
  CHECK(look(kSecond + 250'000'000, 50'000).size() == 1);
}

TEST_CASE("a target that hardly runs is watched for longer before it is judged") {
  HitWatch watch(kSecond);
  const auto look = [&](std::uint64_t second) {
    return watch
        .look(second * kSecond, points(1), std::vector{second * 100'000}, second * kSecond / 20)
        .hot;
  };
  CHECK(look(1).empty());
  CHECK(look(2).empty());
  CHECK(look(3).size() == 1);
}

TEST_CASE("points that were not hit are reported after a while, once") {
  HitWatch watch(kSecond);
  auto watched = points(3);
  watched[2].is_targets = false;
  const std::vector<std::uint64_t> hits = {1, 0, 0};
  CHECK(watch.look(kSecond + HitWatch::kSilentNs - 1, watched, hits, 0).silent.empty());
  const auto news = watch.look(kSecond + HitWatch::kSilentNs, watched, hits, 0);
  CHECK(news.silent == std::vector<model::PointId>{1});
  CHECK_FALSE(news.none_was_hit);
  CHECK(watch.look(kSecond + 2 * HitWatch::kSilentNs, watched, hits, 0).silent.empty());
}

TEST_CASE("without drops, and without points, nothing is reported") {
  HitWatch watch(kSecond);
  auto watched = points(2);
  watched[1].may_be_silent = true;
  const auto news =
      watch.look(2 * HitWatch::kSilentNs, watched, std::vector<std::uint64_t>{1, 0}, 0);
  CHECK(news.silent.empty());
  CHECK_FALSE(news.none_was_hit);
  CHECK_FALSE(HitWatch(kSecond).look(2 * HitWatch::kSilentNs, {}, {}, 0).none_was_hit);
}

TEST_CASE("if no point was hit at all, one message says so") {
  HitWatch watch(kSecond);
  auto watched = points(2);
  watched[1].is_targets = false;
  const auto news =
      watch.look(2 * HitWatch::kSilentNs, watched, std::vector<std::uint64_t>{0, 5}, 0);
  CHECK(news.none_was_hit);
  CHECK(news.silent.size() == 1);
}

TEST_CASE("silent points are named, a few of many, with possible reasons") {
  const std::vector<std::string> few = {"a--b", "c--d"};
  CHECK(silent_points_text(few, false).starts_with("a--b, c--d: "));
  CHECK(silent_points_text(few, true).contains("inlined"));
  const std::vector<std::string> many(7, "a--b");
  CHECK(silent_points_text(many, false).contains("a--b and 2 more"));
}

}  // namespace
}  // namespace sojourn::capture
