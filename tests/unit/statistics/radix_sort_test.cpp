#include "analysis/statistics/radix_sort.h"

#include <algorithm>
#include <random>

#include <catch2/catch_test_macros.hpp>

namespace sojourn::statistics {
namespace {

TEST_CASE("numbers of any width are sorted, equal ones and none as well") {
  std::mt19937_64 random(3);
  for (const std::uint64_t max : {std::uint64_t{0}, std::uint64_t{1}, std::uint64_t{2047},
                                  std::uint64_t{2048}, std::uint64_t{1} << 33, UINT64_MAX}) {
    for (const std::size_t count : {0U, 1U, 2U, 5000U}) {
      std::uniform_int_distribution<std::uint64_t> any(0, max);
      std::vector<std::uint64_t> numbers(count);
      for (auto& number : numbers) number = any(random);
      if (count > 1) numbers[1] = max;
      auto expected = numbers;
      std::ranges::sort(expected);
      radix_sort(numbers, max);
      CHECK(numbers == expected);
    }
  }
}

}  // namespace
}  // namespace sojourn::statistics
