// The reading end of a ring, with writers that are late, lose, or write nonsense.
#include "userspace/capture/records/ring.h"

#include <array>
#include <cstring>
#include <vector>

#include <catch2/catch_test_macros.hpp>

namespace sojourn::capture {
namespace {

constexpr std::uint32_t kSlots = 16;
constexpr std::uint32_t kMaxArgs = 2;
constexpr std::uint32_t kSlotBytes = SJ_HIT_HEADER_BYTES + 8 * kMaxArgs;

// A ring as the BPF programs see it.
class Writer {
 public:
  Ring ring() { return {&control_, memory_.data(), kSlots, kSlotBytes}; }

  std::uint64_t take_position() { return control_.head++; }
  void lose(std::uint64_t hits) { control_.lost += hits; }
  void fill(std::uint64_t position, std::uint64_t number, std::uint8_t args = 1) {
    auto& hit = *reinterpret_cast<sj_hit*>(memory_.data() + position % kSlots * kSlotBytes);
    hit.args = args;
    hit.value[0] = number * 10;
    hit.commit = number + 1;
  }
  void hit() {
    const std::uint64_t position = take_position();
    fill(position, position + control_.lost);
  }
  std::uint64_t given_back() const { return control_.tail; }

 private:
  sj_cpu_ring control_ = {};
  alignas(sj_hit) std::array<std::byte, kSlots * kSlotBytes> memory_ = {};
};

std::vector<std::uint64_t> numbers(RingReader& reader, std::size_t most = 100) {
  std::vector<std::uint64_t> numbers;
  reader.consume(most, [&](const sj_hit& hit, std::uint64_t number) {
    CHECK(hit.value[0] == number * 10);
    numbers.push_back(number);
  });
  return numbers;
}

using Numbers = std::vector<std::uint64_t>;

TEST_CASE("a ring is read in order and given back") {
  Writer writer;
  RingReader reader(writer.ring());
  CHECK(numbers(reader).empty());
  for (int i = 0; i < 3; ++i) writer.hit();
  CHECK(numbers(reader) == Numbers{0, 1, 2});
  CHECK(writer.given_back() == 3);
  CHECK(numbers(reader).empty());
}

TEST_CASE("a slot's older hits are not read again when the ring comes round") {
  Writer writer;
  RingReader reader(writer.ring());
  for (std::uint64_t round = 0; round < 5 * kSlots; ++round) {
    CHECK(numbers(reader).empty());
    writer.take_position();
    CHECK(numbers(reader).empty());
    writer.fill(round, round);
    CHECK(numbers(reader) == Numbers{round});
  }
}

TEST_CASE("a writer that is late delays what came after it, and loses nothing") {
  Writer writer;
  RingReader reader(writer.ring());
  writer.hit();
  const std::uint64_t late = writer.take_position();
  writer.hit();
  CHECK(numbers(reader) == Numbers{0});
  CHECK(writer.given_back() == 1);
  writer.fill(late, late);
  CHECK(numbers(reader) == Numbers{1, 2});
}

TEST_CASE("lost hits leave a gap, however many rings' worth they are") {
  Writer writer;
  RingReader reader(writer.ring());
  for (std::uint32_t i = 0; i < kSlots; ++i) writer.hit();
  writer.lose(3 * kSlots);
  CHECK(numbers(reader).size() == kSlots);
  const std::uint64_t position = writer.take_position();
  CHECK(numbers(reader).empty());
  writer.fill(position, position + 3 * kSlots);
  writer.hit();
  CHECK(numbers(reader) == Numbers{4 * kSlots, 4 * kSlots + 1});
}

TEST_CASE("a reader that takes a part says that there is more") {
  Writer writer;
  RingReader reader(writer.ring());
  for (int i = 0; i < 5; ++i) writer.hit();
  const auto ignore = [](const sj_hit&, std::uint64_t) {};
  CHECK(reader.consume(2, ignore));
  CHECK(writer.given_back() == 2);
  CHECK_FALSE(reader.consume(4, ignore));
  CHECK(writer.given_back() == 5);
}

TEST_CASE("a hit with more arguments than its slot holds is not handed on") {
  Writer writer;
  RingReader reader(writer.ring());
  writer.hit();
  writer.fill(writer.take_position(), 1, kMaxArgs + 1);
  writer.fill(writer.take_position(), 2, 255);
  writer.hit();
  CHECK(numbers(reader) == Numbers{0, 3});
  CHECK(writer.given_back() == 4);
}

}  // namespace
}  // namespace sojourn::capture
