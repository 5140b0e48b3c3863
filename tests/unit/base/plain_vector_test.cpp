#include "analysis/base/plain_vector.h"

#include <algorithm>
#include <vector>

#include <catch2/catch_test_macros.hpp>

namespace sojourn {
namespace {

bool equal(const PlainVector<int>& mine, const std::vector<int>& expected) {
  return std::ranges::equal(mine, expected);
}

TEST_CASE("a plain vector keeps its contents when it grows") {
  PlainVector<int> numbers;
  std::vector<int> expected;
  CHECK(numbers.empty());
  for (int i = 0; i < 1000; ++i) {
    numbers.push_back(i);
    expected.push_back(i);
  }
  CHECK(equal(numbers, expected));
  CHECK(numbers.capacity() >= numbers.size());
  CHECK((numbers.front() == 0 && numbers.back() == 999 && numbers[500] == 500));
}

TEST_CASE("a value of the vector itself can be added where there is no room") {
  PlainVector<int> numbers;
  numbers.push_back(7);
  while (numbers.size() < numbers.capacity()) numbers.push_back(1);
  numbers.push_back(numbers.front());
  CHECK(numbers.back() == 7);
}

TEST_CASE("many short spans are appended without moving everything for each") {
  PlainVector<int> numbers;
  const std::vector expected(10'000, 3);
  int moves = 0;
  for (std::size_t at = 0; at < expected.size(); at += 10) {
    const auto before = numbers.capacity();
    numbers.append(std::vector(10, 3));
    moves += numbers.capacity() == before ? 0 : 1;
  }
  CHECK(equal(numbers, expected));
  CHECK(moves < 15);
}

TEST_CASE("capacity is kept when a plain vector is cleared, and moves with it") {
  PlainVector<int> numbers;
  numbers.reserve(100);
  const auto* const room = numbers.data();
  numbers.append(std::vector{1, 2, 3});
  CHECK(equal(numbers, {1, 2, 3}));
  numbers.clear();
  CHECK((numbers.empty() && numbers.capacity() == 100));
  numbers.push_back(4);
  auto other = std::move(numbers);
  CHECK((other.data() == room && equal(other, {4})));
  // A vector that was moved from may be used again.
  numbers = {};
  numbers.push_back(5);
  CHECK(equal(numbers, {5}));
  other = std::move(numbers);
  CHECK(equal(other, {5}));
}

}  // namespace
}  // namespace sojourn
