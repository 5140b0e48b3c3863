// A trace that is read while it grows.
#include "analysis/trace/follower.h"

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <memory>
#include <span>
#include <string>

#include <catch2/catch_test_macros.hpp>

#include "tests/unit/trace/support.h"

namespace sojourn::trace {
namespace {

using namespace test;

// A source with the bytes that have come so far.
class PartSource : public ByteSource {
 public:
  PartSource(const Bytes& bytes, const std::size_t& come) : bytes_(bytes), come_(come) {}
  const std::string& name() const override { return name_; }
  std::uint64_t size() const override { return come_; }
  bool read_at(std::uint64_t offset, std::span<std::uint8_t> into) override {
    if (offset > come_ || into.size() > come_ - offset) return false;
    std::ranges::copy(std::span(bytes_).subspan(offset, into.size()), into.data());
    return true;
  }

 private:
  const Bytes& bytes_;
  const std::size_t& come_;
  std::string name_ = "part";
};

Bytes some_trace(const Events& first, const Events& second, const model::Schema& schema) {
  const TemporaryDirectory folder;
  const Events blocks[] = {first, second};
  write_trace(folder.path("t.sjt"), schema, blocks);
  return read_bytes(folder.path("t.sjt"));
}

TEST_CASE("a trace that comes byte by byte is read block by block, each event once") {
  const model::Schema schema = some_schema();
  const Events first = some_events(1, 0, 40, schema);
  const Events second = some_events(2, 1, 40, schema);
  const Bytes bytes = some_trace(first, second, schema);
  std::size_t come = 0;
  Follower follower(std::make_unique<PartSource>(bytes, come));
  Events found;
  for (come = 0; come <= bytes.size(); ++come) {
    const auto polled = follower.poll(10, [&](StoredEvents&& stored) {
      CHECK(follower.about().schema == schema);
      model::EventBatch batch;
      REQUIRE(follower.decode(stored, batch));
      append_to(batch, found);
    });
    REQUIRE(error_of(polled) == "");
    if (come < bytes.size() / 2) CHECK_FALSE(follower.has_ended());
  }
  CHECK(follower.has_ended());
  CHECK(follower.damage().empty());
  CHECK(follower.events() == 80);
  CHECK(sorted(found) == sorted([&] {
          Events all = first;
          all.insert(all.end(), second.begin(), second.end());
          return all;
        }()));
}

TEST_CASE("no more blocks are taken at once than are asked for") {
  const model::Schema schema = some_schema();
  const Bytes bytes =
      some_trace(some_events(1, 0, 5, schema), some_events(2, 0, 5, schema), schema);
  const std::size_t come = bytes.size();
  Follower follower(std::make_unique<PartSource>(bytes, come));
  std::size_t blocks = 0;
  while (!follower.has_ended()) {
    const auto polled = follower.poll(1, [](StoredEvents&&) {});
    REQUIRE(error_of(polled) == "");
    REQUIRE(*polled == 1);
    ++blocks;
  }
  CHECK(blocks >= 4);  // the schema, two of events, the index
  CHECK(*follower.poll(1, [](StoredEvents&&) {}) == 0);
}

TEST_CASE("a place that is no block is passed over once the next one has come") {
  const model::Schema schema = some_schema();
  const Events first = some_events(1, 0, 20, schema);
  const Events second = some_events(2, 0, 20, schema);
  Bytes bytes = some_trace(first, second, schema);
  // The first block of events, by its header.
  std::size_t at = sizeof(FileHeader);
  BlockHeader header;
  for (;; at += sizeof(header) + header.payload_bytes) {
    std::memcpy(&header, &bytes[at], sizeof(header));
    if (header.type == BlockType::kEvents) break;
  }
  const std::size_t next = at + sizeof(header) + header.payload_bytes;
  bytes[at + 20] ^= 0xff;
  std::size_t come = next;
  Follower follower(std::make_unique<PartSource>(bytes, come));
  std::uint64_t events = 0;
  const auto take = [&](StoredEvents&& stored) { events += stored.header.events; };
  REQUIRE(follower.poll(10, take));
  CHECK(events == 0);
  CHECK(follower.damage().empty());  // it may still become a block
  come = bytes.size();
  REQUIRE(follower.poll(10, take));
  CHECK(events == 20);
  REQUIRE(follower.damage().size() == 1);
  CHECK(follower.damaged_places() == 1);
  CHECK(follower.damage()[0].offset == at);
  CHECK(follower.damage()[0].bytes == next - at);
  CHECK(follower.has_ended());
}

TEST_CASE("a file that is no trace is refused, and one that may become one is waited for") {
  const Bytes bytes = bytes_of("this is a text and no trace at all");
  std::size_t come = 7;
  Follower follower(std::make_unique<PartSource>(bytes, come));
  const auto take = [](StoredEvents&&) {};
  CHECK(*follower.poll(1, take) == 0);
  come = bytes.size();
  CHECK(error_of(follower.poll(1, take)) == "part: no sojourn trace");
  Bytes newer = file_header({.major = kMajor + 1});
  const std::size_t all = newer.size();
  Follower of_newer(std::make_unique<PartSource>(newer, all));
  CHECK(error_of(of_newer.poll(1, take)).contains("use a newer sojourn"));
}

}  // namespace
}  // namespace sojourn::trace
