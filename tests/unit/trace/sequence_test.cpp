#include "analysis/trace/sequence.h"

#include <algorithm>
#include <limits>
#include <map>
#include <random>
#include <set>

#include <catch2/catch_test_macros.hpp>

#include "tests/unit/trace/support.h"

namespace sojourn::trace {
namespace {

using namespace test;

struct Number {
  std::uint64_t seq = 0;
  std::uint64_t ts_ns = 0;
};

model::EventBatch batch_of(std::span<const Number> numbers) {
  model::EventBatch batch;
  for (const Number& number : numbers)
    batch.append({.ts_ns = number.ts_ns, .seq = number.seq, .values = {}});
  return batch;
}

std::vector<Gap> gaps_of(const SequenceCheck& check, std::uint64_t first = 0) {
  std::vector<Gap> gaps;
  check.append_gaps(7, first, gaps);
  return gaps;
}

TEST_CASE("numbers that count up from 0 have no gap") {
  SequenceCheck check;
  std::vector<Number> numbers;
  numbers.reserve(1000);
  for (std::uint64_t seq = 0; seq < 1000; ++seq) numbers.push_back({seq, seq * 10});
  check.add(batch_of(numbers));
  CHECK(gaps_of(check).empty());
}

TEST_CASE("numbers before the first wanted one are no gap") {
  SequenceCheck check;
  const std::vector<Number> numbers = {{5, 50}, {6, 60}, {8, 80}};
  check.add(batch_of(numbers));
  const auto gaps = gaps_of(check, 3);
  REQUIRE(gaps.size() == 2);
  CHECK(gaps[0].first_seq == 3);
  CHECK(gaps[0].count == 2);
  CHECK(gaps[1].first_seq == 7);
  REQUIRE(gaps_of(check, 6).size() == 1);
  CHECK(gaps_of(check, 6)[0].first_seq == 7);
}

TEST_CASE("no numbers have no gap") {
  CHECK(gaps_of(SequenceCheck()).empty());
}

TEST_CASE("a gap has its numbers and the events around it") {
  SequenceCheck check;
  const std::vector<Number> numbers = {{2, 20}, {3, 30}, {7, 70}, {8, 80}};
  check.add(batch_of(numbers));
  const auto gaps = gaps_of(check);
  REQUIRE(gaps.size() == 2);
  CHECK(gaps[0].stream == 7);
  CHECK(gaps[0].first_seq == 0);
  CHECK(gaps[0].count == 2);
  CHECK(gaps[0].after_ns == 0);
  CHECK(gaps[0].before_ns == 20);
  CHECK(gaps[1].first_seq == 4);
  CHECK(gaps[1].count == 3);
  CHECK(gaps[1].after_ns == 30);
  CHECK(gaps[1].before_ns == 70);
}

TEST_CASE("the largest possible number is a number like others") {
  SequenceCheck check;
  constexpr auto kMax = std::numeric_limits<std::uint64_t>::max();
  const std::vector<Number> numbers = {{kMax, 3}, {0, 1}, {kMax - 1, 2}, {kMax, 3}};
  check.add(batch_of(numbers));
  const auto gaps = gaps_of(check);
  REQUIRE(gaps.size() == 1);
  CHECK(gaps[0].first_seq == 1);
  CHECK(gaps[0].count == kMax - 2);
}

// Every number's time is remembered, and gaps are read off the sorted numbers.
std::vector<Gap> reference(std::span<const Number> numbers) {
  std::map<std::uint64_t, std::uint64_t> ts_of;
  for (const Number& number : numbers) ts_of.try_emplace(number.seq, number.ts_ns);
  std::vector<Gap> gaps;
  std::uint64_t expected = 0;
  std::uint64_t after_ns = 0;
  for (const auto& [seq, ts_ns] : ts_of) {
    if (seq != expected)
      gaps.push_back({.stream = 7,
                      .first_seq = expected,
                      .count = seq - expected,
                      .after_ns = after_ns,
                      .before_ns = ts_ns});
    expected = seq + 1;
    after_ns = ts_ns;
  }
  return gaps;
}

TEST_CASE("gaps in numbers of any order are those of the numbers sorted") {
  for (std::uint64_t seed = 0; seed < 300; ++seed) {
    std::mt19937_64 random(seed);
    const std::uint64_t largest = 5 + random() % 200;
    const std::uint64_t keep = 1 + random() % 10;  // of 10
    std::vector<Number> numbers;
    for (std::uint64_t seq = 0; seq < largest; ++seq)
      if (random() % 10 < keep) numbers.push_back({seq, 1000 + seq * 3});
    // Whole runs in another order, single numbers in another order, or as they are.
    if (seed % 3 == 0) std::ranges::shuffle(numbers, random);
    if (seed % 3 == 1 && !numbers.empty())
      std::ranges::rotate(numbers,
                          numbers.begin() + static_cast<std::ptrdiff_t>(random() % numbers.size()));
    if (seed % 2 == 0 && !numbers.empty())
      for (int i = 0; i < 5; ++i) numbers.push_back(numbers[random() % numbers.size()]);

    SequenceCheck check;
    for (std::size_t at = 0; at < numbers.size();) {
      const std::size_t count = std::min<std::size_t>(1 + random() % 40, numbers.size() - at);
      check.add(batch_of(std::span(numbers).subspan(at, count)));
      at += count;
    }
    const auto gaps = gaps_of(check);
    const auto expected = reference(numbers);
    INFO("seed " << seed);
    REQUIRE(gaps.size() == expected.size());
    for (std::size_t i = 0; i < gaps.size(); ++i) {
      CHECK(gaps[i].stream == expected[i].stream);
      CHECK(gaps[i].first_seq == expected[i].first_seq);
      CHECK(gaps[i].count == expected[i].count);
      CHECK(gaps[i].after_ns == expected[i].after_ns);
      CHECK(gaps[i].before_ns == expected[i].before_ns);
    }
  }
}

}  // namespace
}  // namespace sojourn::trace
