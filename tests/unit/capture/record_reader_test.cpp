#include "userspace/capture/records/record_reader.h"

#include <cstring>
#include <memory>
#include <random>

#include <catch2/catch_test_macros.hpp>

namespace sojourn::capture {
namespace {

constexpr std::uint64_t kCapacity = 4096;

// A ring as a target has it, written by hand.
struct FakeRing {
  sj_ring ring{};
  alignas(8) std::byte data[kCapacity + SJ_RING_PAGE]{};
  std::int64_t cursor = 0;

  template <typename... Values>
  void write(std::uint64_t stamp, std::uint32_t id, Values... values) {
    std::byte* at = data + (static_cast<std::uint64_t>(cursor) & (kCapacity - 1));
    const sj_ring_record header{static_cast<std::uint32_t>(stamp),
                                static_cast<std::uint32_t>(stamp >> 32), id};
    std::memcpy(at, &header, sizeof(header));
    std::size_t bytes = sizeof(header);
    ((std::memcpy(at + bytes, &values, sizeof(values)), bytes += sizeof(values)), ...);
    cursor += static_cast<std::int64_t>((bytes + 7) / 8 * 8);
  }

  void lose(std::uint64_t count) {
    ring.gap[ring.gaps_begun % SJ_RING_GAPS] = {cursor, count};
    ++ring.gaps_begun;
  }
};

// One tick is one nanosecond.
RingClock plain_clock() {
  return {{.ticks = 0, .ns = 0, .error_ns = 0}, {.ticks = 1000, .ns = 1000, .error_ns = 0}};
}

constexpr std::uint32_t kWide = 7;
constexpr std::uint32_t kPlain = 9;

RingSites two_sites() {
  RingSites sites;
  sites.add(kWide, 1,
            {{.name = "a", .bytes = 1, .is_signed = true},
             {.name = "b", .bytes = 2, .is_signed = false},
             {.name = "c", .bytes = 4, .is_signed = true},
             {.name = "d", .bytes = 8, .is_signed = false}});
  sites.add(kPlain, 2, {});
  return sites;
}

struct Read {
  bool sound = false;
  RingStream stream{.id = 3, .tid = 44};
  model::EventColumns columns;
};

Read read_all(const FakeRing& fake, RecordReader& reader, const RingGate& gate = {},
              std::size_t room = 1 << 20) {
  Read read;
  read.sound =
      reader.read(fake.cursor, two_sites(), plain_clock(), gate, room, read.stream, read.columns);
  return read;
}

TEST_CASE("values are read in their width and with their sign") {
  auto fake = std::make_unique<FakeRing>();
  fake->write(2000, kWide, std::int8_t{-5}, std::uint16_t{0xffff}, std::int32_t{-70000},
              std::uint64_t{0xfedcba9876543210});
  RecordReader reader(fake->ring, fake->data, kCapacity, 0);
  const Read read = read_all(*fake, reader);
  REQUIRE(read.sound);
  CHECK(read.columns.ts_ns == std::vector<std::uint64_t>{2000});
  CHECK(read.columns.point == std::vector<model::PointId>{1});
  CHECK(read.columns.tid == std::vector<std::uint32_t>{44});
  CHECK(read.columns.stream == std::vector<std::uint32_t>{3});
  CHECK(read.columns.values == std::vector<std::uint64_t>{static_cast<std::uint64_t>(-5), 0xffff,
                                                          static_cast<std::uint64_t>(-70000),
                                                          0xfedcba9876543210});
  CHECK(read.columns.first_value == std::vector<std::uint32_t>{0, 4});
  CHECK(reader.tail() == fake->cursor);
}

TEST_CASE("records go on over the end of the ring, as often as it is filled") {
  auto fake = std::make_unique<FakeRing>();
  RecordReader reader(fake->ring, fake->data, kCapacity, 0);
  std::uint64_t next = 0;
  std::uint64_t stamp = 2000;
  bool hung_over = false;
  while (fake->cursor < std::int64_t{10 * kCapacity}) {
    for (int i = 0; i < 50; ++i) {
      const std::uint64_t place = static_cast<std::uint64_t>(fake->cursor) & (kCapacity - 1);
      hung_over = hung_over || place + 32 > kCapacity;
      fake->write(++stamp, kWide, std::int8_t{1}, std::uint16_t{2}, std::int32_t{3}, next++);
      fake->write(++stamp, kPlain);
    }
    const Read read = read_all(*fake, reader);
    REQUIRE(read.sound);
    REQUIRE(read.columns.point.size() == 100);
    CHECK(read.columns.values.back() == next - 1);
    CHECK(read.stream.damaged == 0);
  }
  CHECK(hung_over);
}

TEST_CASE("sequence numbers jump where the ring lost, and only there") {
  auto fake = std::make_unique<FakeRing>();
  RecordReader reader(fake->ring, fake->data, kCapacity, 0);
  fake->write(2001, kPlain);
  fake->lose(5);
  fake->write(2002, kPlain);
  fake->write(2003, kPlain);
  fake->lose(1);
  fake->lose(2);  // as a signal handler between two hits may
  fake->write(2004, kPlain);
  fake->lose(100);  // what comes behind is not known yet
  const Read read = read_all(*fake, reader);
  CHECK(read.columns.seq == std::vector<std::uint64_t>{0, 6, 7, 11});
  CHECK(read.stream.seq == 12);

  RingStream stream = read.stream;
  model::EventColumns columns;
  fake->write(2005, kPlain);
  REQUIRE(reader.read(fake->cursor, two_sites(), plain_clock(), {}, 10, stream, columns));
  CHECK(columns.seq == std::vector<std::uint64_t>{112});
}

TEST_CASE("losses of the previous owner do not count in this one's numbers") {
  auto fake = std::make_unique<FakeRing>();
  fake->write(2001, kPlain);
  fake->lose(5);
  const GapMark mark = mark_gaps(fake->ring);
  RecordReader reader(fake->ring, fake->data, kCapacity, fake->cursor, mark);
  fake->ring.gap[0].count += 2;  // and the new one lost two in the same place
  fake->write(2002, kPlain);
  const Read read = read_all(*fake, reader);
  CHECK(read.columns.seq == std::vector<std::uint64_t>{2});
}

TEST_CASE("only records between the marks count") {
  auto fake = std::make_unique<FakeRing>();
  for (std::uint64_t stamp = 2000; stamp < 2010; ++stamp) fake->write(stamp, kPlain);
  RecordReader reader(fake->ring, fake->data, kCapacity, 0);
  const Read read = read_all(*fake, reader, {.open = 2003, .close = 2007});
  CHECK(read.columns.ts_ns == std::vector<std::uint64_t>{2003, 2004, 2005, 2006});
  CHECK(read.columns.seq == std::vector<std::uint64_t>{0, 1, 2, 3});
  CHECK(reader.tail() == fake->cursor);
}

TEST_CASE("a reader takes no more than there is room for, and goes on there") {
  auto fake = std::make_unique<FakeRing>();
  for (std::uint64_t stamp = 2000; stamp < 2010; ++stamp) fake->write(stamp, kPlain);
  RecordReader reader(fake->ring, fake->data, kCapacity, 0);
  CHECK(read_all(*fake, reader, {}, 4).columns.ts_ns.back() == 2003);
  CHECK(read_all(*fake, reader, {}, 100).columns.ts_ns.front() == 2004);
  CHECK(reader.tail() == fake->cursor);
}

TEST_CASE("an unknown record is counted, and the rest of the span is skipped") {
  auto fake = std::make_unique<FakeRing>();
  fake->write(2000, kPlain);
  fake->write(2001, 12345);
  fake->write(2002, kPlain);
  RecordReader reader(fake->ring, fake->data, kCapacity, 0);
  const Read read = read_all(*fake, reader);
  CHECK(read.sound);
  CHECK(read.columns.ts_ns == std::vector<std::uint64_t>{2000});
  CHECK(read.stream.damaged == 1);
  CHECK(read.stream.seq == 2);  // one number is left out, so that readers see the gap
  CHECK(reader.tail() == fake->cursor);
}

TEST_CASE("a record that would pass the cursor is no record") {
  auto fake = std::make_unique<FakeRing>();
  fake->write(2000, kWide, std::int8_t{1}, std::uint16_t{2}, std::int32_t{3}, std::uint64_t{4});
  fake->cursor -= 8;
  RecordReader reader(fake->ring, fake->data, kCapacity, 0);
  const Read read = read_all(*fake, reader);
  CHECK(read.columns.ts_ns.empty());
  CHECK(read.stream.damaged == 1);
  CHECK(reader.tail() == fake->cursor);
}

TEST_CASE("a cursor that no owner can have is refused") {
  auto fake = std::make_unique<FakeRing>();
  RecordReader reader(fake->ring, fake->data, kCapacity, 4096);
  for (const std::int64_t cursor :
       {std::int64_t{0}, std::int64_t{4088}, std::int64_t{4097}, std::int64_t{4096 + 4096 + 8},
        std::int64_t{-8}, INT64_MAX, INT64_MIN}) {
    fake->cursor = cursor;
    CHECK_FALSE(read_all(*fake, reader).sound);
    CHECK(reader.tail() == 4096);
  }
}

TEST_CASE("no contents of a ring lead a reader astray") {
  std::mt19937_64 random(1);
  auto fake = std::make_unique<FakeRing>();
  for (int round = 0; round < 2000; ++round) {
    for (std::byte& byte : fake->data) byte = static_cast<std::byte>(random());
    // Some ids are valid, so that not every reading ends at the first record.
    for (std::size_t at = 8; at < sizeof(fake->data); at += 8)
      if (random() % 2 == 0) {
        const std::uint32_t id = random() % 2 == 0 ? kWide : kPlain;
        std::memcpy(fake->data + at, &id, sizeof(id));
      }
    for (sj_ring_gap& gap : fake->ring.gap) gap = {static_cast<std::int64_t>(random()), random()};
    fake->ring.gaps_begun = static_cast<std::uint32_t>(random());
    const auto tail = static_cast<std::int64_t>(random() % 100'000 * 8);
    fake->cursor = tail + static_cast<std::int64_t>(random() % (kCapacity / 8 + 1) * 8);
    RecordReader reader(fake->ring, fake->data, kCapacity, tail);
    const Read read = read_all(*fake, reader);
    REQUIRE(read.sound);
    REQUIRE(reader.tail() == fake->cursor);
    REQUIRE(read.columns.first_value.size() == read.columns.ts_ns.size() + 1);
    REQUIRE(read.columns.first_value.back() == read.columns.values.size());
  }
}

TEST_CASE("sites are found among thousands, and unknown ones are not") {
  RingSites sites;
  for (std::uint32_t id = 1; id <= 5000; ++id)
    sites.add(id * 64, static_cast<model::PointId>(id % 100), {});
  for (std::uint32_t id = 1; id <= 5000; ++id) {
    REQUIRE(sites.find(id * 64) != nullptr);
    CHECK(sites.find(id * 64)->point == id % 100);
    CHECK(sites.find(id * 64 + 1) == nullptr);
  }
}

TEST_CASE("stamps are corrected by their CPU's counter, and the marks apply to corrected ones") {
  auto fake = std::make_unique<FakeRing>();
  RecordReader reader(fake->ring, fake->data, kCapacity, 0);
  RingStream stream{.id = 3, .tid = 44, .correction = RingCorrection{.ahead_ticks = 500}};
  model::EventColumns columns;
  const auto read = [&](const RingGate& gate) {
    REQUIRE(reader.read(fake->cursor, two_sites(), plain_clock(), gate, 1 << 20, stream, columns));
  };
  for (const std::uint64_t stamp : {2499U, 2500U, 2600U}) fake->write(stamp, kPlain);
  read({.open = 2000});
  CHECK(columns.ts_ns == std::vector<std::uint64_t>{2000, 2100});

  // On a CPU whose counter is behind, with a slightly wrong offset: times do not step back.
  stream.correction->ahead_ticks = -300;
  columns = {};
  for (const std::uint64_t stamp : {1790U, 1820U}) fake->write(stamp, kPlain);
  read({.open = 2000, .close = 2121});
  CHECK(columns.ts_ns == std::vector<std::uint64_t>{2100, 2120});
  CHECK(stream.seq == 4);
  CHECK(reader.last_stamp() == 1820);

  // Records that were there at an instant are not from after it.
  stream.correction->not_after = 2125;
  columns = {};
  for (const std::uint64_t stamp : {1823U, 2900U}) fake->write(stamp, kPlain);
  read({.open = 2000});
  CHECK(columns.ts_ns == std::vector<std::uint64_t>{2123, 2125});
}

}  // namespace
}  // namespace sojourn::capture
