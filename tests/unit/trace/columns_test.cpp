// Events as columns: predictions make small numbers, and decoding restores the events.
#include <algorithm>
#include <array>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <numeric>
#include <random>

#include <catch2/catch_test_macros.hpp>

#include "analysis/trace/column.h"
#include "tests/unit/trace/support.h"
#include "userspace/files/trace_file.h"

namespace sojourn::trace {
namespace {

using namespace test;

// Each of `bearers` bearers of twenty UEs counts its own packets up, in an order that is random.
Events counters(std::size_t count, std::uint64_t bearers) {
  std::mt19937_64 random(1);
  std::vector<std::uint64_t> next(20 * bearers);
  std::ranges::generate(next, [&] { return random() % 4096; });
  Events events;
  for (std::size_t i = 0; i < count; ++i) {
    const std::uint64_t bearer = random() % next.size();
    const std::uint64_t psn = next[bearer]++;
    events.push_back({.ts_ns = 1000 * i,
                      .seq = i,
                      .stream = 0,
                      .tid = 1,
                      .point = 2,
                      .values = {100, 0x4601 + bearer / bearers, bearer % bearers, psn, 0}});
  }
  return events;
}

TEST_CASE("counters of many bearers come back, and cost no more than naming the bearer") {
  const TemporaryDirectory folder;
  const std::string path = folder.path("run.sjt");
  constexpr std::size_t kCount = 16'000;
  for (const std::uint64_t bearers : {1U, 2U, 3U}) {
    const Events events = counters(kCount, bearers);
    write_trace(path, some_schema(), std::span(&events, 1));
    auto reader = files::open_trace(path);
    REQUIRE(error_of(reader) == "");
    CHECK(merged(*reader) == events);
    // One of sixty bearers is six bits. A counter stored by itself would be some twelve bits more.
    CHECK(reader->blocks().at(0).bytes < kCount * 5 / 4);
  }
}

TEST_CASE("more keys than the table of hashes has room for come back") {
  const TemporaryDirectory folder;
  const std::string path = folder.path("run.sjt");
  const Events events = counters(16'000, 400);
  write_trace(path, some_schema(), std::span(&events, 1));
  auto reader = files::open_trace(path);
  REQUIRE(error_of(reader) == "");
  CHECK(merged(*reader) == events);
}

TEST_CASE("traffic that changes its ways comes back") {
  const TemporaryDirectory folder;
  const std::string path = folder.path("run.sjt");
  std::vector<Events> blocks = {counters(16'000, 2), some_events(1, 0, 5000, some_schema()),
                                counters(300, 1), counters(16'000, 3)};
  write_trace(path, some_schema(), blocks);
  auto reader = files::open_trace(path);
  REQUIRE(error_of(reader) == "");
  for (std::size_t i = 0; i < blocks.size(); ++i) {
    model::EventBatch batch;
    REQUIRE(error_of(reader->read(reader->blocks().at(i), batch)) == "");
    Events events;
    append_to(batch, events);
    CHECK(events == blocks[i]);
  }
}

TEST_CASE("a batch larger than a block becomes several, and stays in order") {
  const TemporaryDirectory folder;
  const std::string path = folder.path("run.sjt");
  const Events events = some_events(1, 0, 40'000, some_schema());
  write_trace(path, some_schema(), std::span(&events, 1));
  auto reader = files::open_trace(path);
  REQUIRE(error_of(reader) == "");
  REQUIRE(reader->blocks().size() == 3);
  CHECK(reader->blocks()[1].first_seq == reader->blocks()[0].events);
  CHECK(reader->events() == events.size());
  CHECK(merged(*reader) == sorted(events));
  CHECK(reader->gaps().empty());
}

TEST_CASE("planes of every width give their numbers back") {
  std::mt19937_64 random(2);
  for (unsigned width = 0; width <= 8; ++width) {
    std::vector<std::uint64_t> numbers(1000);
    for (std::uint64_t& number : numbers) number = width == 0 ? 0 : random() >> (64 - 8 * width);
    CHECK(width_of(std::reduce(numbers.begin(), numbers.end(), std::uint64_t{0}, std::bit_or{})) ==
          width);
    Bytes planes;
    put_planes(numbers, width, planes);
    REQUIRE(planes.size() == width * numbers.size());
    std::vector<std::uint64_t> back(numbers.size());
    get_planes(planes, width, back);
    CHECK(back == numbers);
  }
}

TEST_CASE("folding keeps small differences of either sign small, and loses none") {
  CHECK(fold(0) == 0);
  CHECK(fold(~std::uint64_t{0}) == 1);
  CHECK(fold(1) == 2);
  for (const std::uint64_t number : {std::uint64_t{0}, std::uint64_t{1}, ~std::uint64_t{0},
                                     std::uint64_t{1} << 63, (std::uint64_t{1} << 63) - 1})
    CHECK(unfold(fold(number)) == number);
}

TEST_CASE("a finished trace whose first schema is damaged is read by its second") {
  const TemporaryDirectory folder;
  const std::string path = folder.path("run.sjt");
  const Events events = some_events(1, 0, 50, some_schema());
  write_trace(path, some_schema(), std::span(&events, 1));
  Bytes bytes = read_bytes(path);
  bytes.at(sizeof(FileHeader) + sizeof(BlockHeader) + 5) ^= 0xff;
  write_bytes(path, bytes);
  auto reader = files::open_trace(path);
  REQUIRE(error_of(reader) == "");
  CHECK(reader->damage().size() == 1);
  CHECK(reader->schema() == some_schema());
  CHECK(merged(*reader) == sorted(events));
}

TEST_CASE("an index whose own header is damaged is not mistaken for the blocks that it lists") {
  const TemporaryDirectory folder;
  const std::string path = folder.path("run.sjt");
  const std::vector<Events> blocks(5, some_events(1, 0, 50, some_schema()));
  write_trace(path, some_schema(), blocks);
  Bytes bytes = read_bytes(path);
  std::uint64_t index = 0;
  std::copy_n(bytes.end() - 16, 8, reinterpret_cast<std::uint8_t*>(&index));
  bytes.at(index) ^= 0xff;
  write_bytes(path, bytes);
  const auto reader = files::open_trace(path);
  REQUIRE(error_of(reader) == "");
  CHECK_FALSE(reader->had_index());
  CHECK(reader->blocks().size() == 5);
  REQUIRE(reader->damage().size() == 1);
  CHECK(reader->damage()[0].offset == index);
}

TEST_CASE("a trace that is still being written is not taken over, one that was abandoned is") {
  const TemporaryDirectory folder;
  const std::string path = folder.path("run.sjt");
  {
    auto writing = files::create_trace(path);
    REQUIRE(error_of(writing) == "");
    CHECK(error_of(files::create_trace(path)) ==
          fmt::format("write {}.partial: another capture is writing it", path));
    REQUIRE(error_of(writing->write(some_schema())) == "");
  }
  CHECK(exists(path + ".partial"));
  auto writer = files::create_trace(path);
  REQUIRE(error_of(writer) == "");
  CHECK(error_of(writer->finish()) == "");
  CHECK(error_of(writer->finish()) != "");
}

}  // namespace
}  // namespace sojourn::trace
