// Replaces ids by other numbers: a permutation that a secret key chooses. An id becomes the same
// number everywhere, and two ids never become one. The number is about as large as the id, so it
// fits in the same fields. 0 stays, because it means that there is no id, and so do the RNTIs that
// address every UE. One thread owns a ValueCipher, which remembers the newest answers.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace sojourn::redaction {

class ValueCipher {
 public:
  using Key = std::array<std::uint8_t, 16>;

  // Takes the key from the system's random numbers.
  static Key random_key();

  explicit ValueCipher(const Key& key);

  std::uint64_t operator()(std::uint64_t value);

  // Returns eight hexadecimal digits that replace a text.
  std::string digest(std::string_view text) const;

  // The shift of all stack pointers: only their order distinguishes calls.
  std::uint64_t stack_shift() const { return stack_shift_; }

 private:
  struct Known {
    std::uint64_t value = 0;
    std::uint64_t answer = 0;
  };
  static constexpr std::size_t kKnown = 1 << 14;

  std::uint64_t hash(const void* bytes, std::size_t size) const;
  std::uint64_t permuted(std::uint64_t value) const;

  Key key_;
  std::uint64_t stack_shift_;
  std::vector<Known> known_ = std::vector<Known>(kKnown);
};

}  // namespace sojourn::redaction
