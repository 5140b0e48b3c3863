// The reading end of a perf ring in memory of the test's own: records that wrap, and a ring that
// makes no sense.
#include "userspace/capture/perf/perf_ring.h"

#include <cstring>
#include <random>
#include <vector>

#include <catch2/catch_test_macros.hpp>

namespace sojourn::capture {
namespace {

// The kernel's side of a ring.
struct Kernel {
  explicit Kernel(std::size_t bytes) : data(bytes) { std::memset(&control, 0, sizeof(control)); }

  void put(std::span<const std::byte> bytes) {
    for (const std::byte byte : bytes) data[control.data_head++ % data.size()] = byte;
  }
  // A record whose bytes after the header are all `fill`.
  void put_record(std::size_t bytes, std::uint8_t fill) {
    std::vector<std::byte> record(bytes, static_cast<std::byte>(fill));
    const perf_event_header header{.type = 9, .misc = 0, .size = static_cast<std::uint16_t>(bytes)};
    std::memcpy(record.data(), &header, sizeof(header));
    put(record);
  }
  PerfMemory memory() { return {&control, data}; }
  std::size_t room() const { return data.size() - (control.data_head - control.data_tail); }

  perf_event_mmap_page control;
  std::vector<std::byte> data;
};

TEST_CASE("records come in order and in one piece, however they lie") {
  Kernel kernel(256);
  PerfRingReader reader(kernel.memory());
  std::mt19937_64 random(7);
  std::uint8_t put = 0;
  std::uint8_t taken = 0;
  for (int round = 0; round < 5'000; ++round) {
    const std::size_t bytes = 8 * (1 + random() % 20);
    if (bytes <= kernel.room()) kernel.put_record(bytes, put++);
    if (random() % 3 != 0) continue;
    reader.consume(100, [&](std::span<const std::byte> record) {
      REQUIRE(record.size() >= sizeof(perf_event_header));
      for (const std::byte byte : record.subspan(sizeof(perf_event_header)))
        REQUIRE(byte == static_cast<std::byte>(taken));
      ++taken;
    });
    REQUIRE(put == taken);
    REQUIRE(kernel.control.data_tail == kernel.control.data_head);
  }
}

TEST_CASE("no more than asked for is taken, and the rest is there the next time") {
  Kernel kernel(4096);
  PerfRingReader reader(kernel.memory());
  for (std::uint8_t record = 0; record < 10; ++record) kernel.put_record(16, record);
  int taken = 0;
  CHECK(reader.consume(4, [&](auto) { ++taken; }));
  CHECK(taken == 4);
  CHECK(kernel.control.data_tail == 64);
  CHECK(!reader.consume(100, [&](auto) { ++taken; }));
  CHECK(taken == 10);
}

TEST_CASE("a mark is passed once the records up to it are taken, however many follow") {
  Kernel kernel(4096);
  PerfRingReader reader(kernel.memory());
  for (std::uint8_t record = 0; record < 4; ++record) kernel.put_record(16, record);
  CHECK(reader.is_past_mark());
  reader.mark();
  for (std::uint8_t record = 0; record < 4; ++record) kernel.put_record(16, record);
  reader.consume(3, [](auto) {});
  CHECK(!reader.is_past_mark());
  reader.consume(1, [](auto) {});
  CHECK(reader.is_past_mark());
}

TEST_CASE("an impossible size ends the reading, is reported, and the rest is skipped") {
  for (const std::uint16_t size : std::initializer_list<std::uint16_t>{0, 7, 40, 65'535}) {
    CAPTURE(size);
    Kernel kernel(256);
    PerfRingReader reader(kernel.memory());
    kernel.put_record(16, 1);
    const perf_event_header header{.type = 9, .misc = 0, .size = size};
    kernel.put(std::as_bytes(std::span(&header, 1)));
    kernel.put_record(24, 2);
    int whole = 0;
    int broken = 0;
    CHECK(!reader.consume(
        100, [&](std::span<const std::byte> record) { ++(record.empty() ? broken : whole); }));
    CHECK(whole == 1);
    CHECK(broken == 1);
    CHECK(kernel.control.data_tail == kernel.control.data_head);
    kernel.put_record(16, 3);
    reader.consume(100,
                   [&](std::span<const std::byte> record) { whole += record.empty() ? 0 : 1; });
    CHECK(whole == 2);
  }
}

TEST_CASE("a head beyond the ring's size, or between two records, is reported") {
  for (const std::uint64_t head : {std::uint64_t{257}, std::uint64_t{4}, UINT64_MAX}) {
    CAPTURE(head);
    Kernel kernel(256);
    PerfRingReader reader(kernel.memory());
    kernel.control.data_head = head;
    int broken = 0;
    reader.consume(100,
                   [&](std::span<const std::byte> record) { broken += record.empty() ? 1 : 0; });
    CHECK(broken == 1);
    CHECK(kernel.control.data_tail == head);
  }
}

}  // namespace
}  // namespace sojourn::capture
