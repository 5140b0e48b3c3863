#include "userspace/redaction/value_cipher.h"

#include <cstdint>
#include <initializer_list>
#include <set>

#include <catch2/catch_test_macros.hpp>

namespace sojourn::redaction {
namespace {

constexpr ValueCipher::Key kKey = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16};

TEST_CASE("two ids never become one, and each stays in its range") {
  ValueCipher cipher(kKey);
  std::set<std::uint64_t> small;
  for (std::uint64_t value = 1; value < 0x80; ++value) small.insert(cipher(value));
  CHECK(small.size() == 0x7f);
  CHECK(*small.begin() == 1);
  CHECK(*small.rbegin() == 0x7f);
  std::set<std::uint64_t> large;
  for (std::uint64_t value = 0x8000; value <= 0xffff; ++value) large.insert(cipher(value));
  CHECK(large.size() == 0x8000);
  CHECK(*large.begin() == 0x8000);
  CHECK(*large.rbegin() == 0xffff);
  for (const std::uint64_t value : {0x1'0000U, 0x1234'5678U, 0x7fff'ffffU}) {
    CHECK(cipher(value) >= 0x1'0000);
    CHECK(cipher(value) < 0x8000'0000);
  }
  CHECK(cipher(0x7fff'1234'5678) >= 0x1'0000'0000);
}

TEST_CASE("an id becomes the same number each time, by another key another one") {
  ValueCipher cipher(kKey);
  const std::uint64_t first = cipher(0x4601);
  for (std::uint64_t value = 0; value < 100'000; ++value) cipher(value);  // more than it remembers
  CHECK(cipher(0x4601) == first);
  CHECK(ValueCipher(kKey)(0x4601) == first);
  ValueCipher::Key key = kKey;
  key[0] = 0;
  std::size_t same = 0;
  ValueCipher other(key);
  for (std::uint64_t value = 0x100; value < 0x1100; ++value) same += cipher(value) == other(value);
  CHECK(same < 10);
  CHECK(ValueCipher::random_key() != ValueCipher::random_key());
}

TEST_CASE("values that identify no UE stay: 0, and the RNTIs for all") {
  ValueCipher cipher(kKey);
  for (const std::uint64_t value :
       {std::uint64_t{0}, std::uint64_t{0xffff}, std::uint64_t{0xfffe}, ~std::uint64_t{0}})
    CHECK(cipher(value) == value);
  const std::uint64_t answer = cipher(~std::uint64_t{5});
  CHECK(answer != ~std::uint64_t{5});
  CHECK(~answer < 0x80);  // as short a negative number
}

}  // namespace
}  // namespace sojourn::redaction
