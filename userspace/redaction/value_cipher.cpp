#include "userspace/redaction/value_cipher.h"

#include <algorithm>

#include <fmt/format.h>
#include <sodium.h>

namespace sojourn::redaction {
namespace {

static_assert(std::tuple_size_v<ValueCipher::Key> == crypto_shorthash_KEYBYTES);
static_assert(sizeof(std::uint64_t) == crypto_shorthash_BYTES);

// System information and paging: journeys take such units for control.
constexpr bool is_kept(std::uint64_t value) {
  return value == 0xffff || value == 0xfffe;
}

// Values from `first` on that are permuted among themselves, and half the bits that number them.
// The bounds are the limits of signed and unsigned fields of 1, 2, 4 and 8 bytes.
struct Range {
  std::uint64_t first;
  std::uint64_t size;
  unsigned half_bits;
};
constexpr Range range(std::uint64_t first, std::uint64_t end, unsigned half_bits) {
  return {first, end - first, half_bits};
}
constexpr std::array kRanges = {
    range(1, 0x80, 4),
    range(0x80, 0x100, 4),
    range(0x100, 0x8000, 8),
    range(0x8000, 0x1'0000, 8),
    range(0x1'0000, 0x8000'0000, 16),
    range(0x8000'0000, 0x1'0000'0000, 16),
    range(0x1'0000'0000, 0x8000'0000'0000'0000, 32),
};
constexpr std::uint64_t kNegative = 0x8000'0000'0000'0000;

}  // namespace

ValueCipher::Key ValueCipher::random_key() {
  Key key;
  randombytes_buf(key.data(), key.size());
  return key;
}

ValueCipher::ValueCipher(const Key& key) : key_(key) {
  constexpr std::string_view kWhat = "stack";
  // Below 2^40 and aligned: no stack pointer of a program overflows by it.
  stack_shift_ = hash(kWhat.data(), kWhat.size()) & 0xff'ffff'fff0;
}

std::uint64_t ValueCipher::hash(const void* bytes, std::size_t size) const {
  std::uint64_t result = 0;
  crypto_shorthash(reinterpret_cast<unsigned char*>(&result),
                   static_cast<const unsigned char*>(bytes), size, key_.data());
  return result;
}

// A Feistel network with the keyed hash as its round function. If its result lies outside of the
// range, it is applied again: so it permutes ranges of any size.
std::uint64_t ValueCipher::permuted(std::uint64_t value) const {
  constexpr std::uint64_t kRounds = 8;
  const auto in = std::ranges::find_if(
      kRanges, [value](const Range& one) { return value - one.first < one.size; });
  if (in == kRanges.end() || is_kept(value)) return value;  // 0
  const std::uint64_t mask = (std::uint64_t{1} << in->half_bits) - 1;
  std::uint64_t number = value - in->first;
  do {
    std::uint64_t left = number >> in->half_bits;
    std::uint64_t right = number & mask;
    for (std::uint64_t round = 0; round < kRounds; ++round) {
      const std::array<std::uint64_t, 3> input = {in->first, round, right};
      const std::uint64_t next = left ^ (hash(input.data(), sizeof(input)) & mask);
      left = right;
      right = next;
    }
    number = left << in->half_bits | right;
  } while (number >= in->size || is_kept(in->first + number));
  return in->first + number;
}

std::uint64_t ValueCipher::operator()(std::uint64_t value) {
  Known& known = known_[(value * 0x9e37'79b9'7f4a'7c15) >> 50];
  if (known.value == value) return known.answer;
  // A negative number becomes a negative one, as its field may be short and signed.
  const std::uint64_t answer = value >= kNegative ? ~permuted(~value) : permuted(value);
  known = {.value = value, .answer = answer};
  return answer;
}

std::string ValueCipher::digest(std::string_view text) const {
  return fmt::format("{:08x}", hash(text.data(), text.size()) & 0xffff'ffff);
}

}  // namespace sojourn::redaction
