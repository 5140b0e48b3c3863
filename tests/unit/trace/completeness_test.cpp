// The gaps of a file, by stream.
#include "analysis/trace/completeness.h"

#include <vector>

#include <catch2/catch_test_macros.hpp>

#include "tests/unit/trace/support.h"
#include "userspace/files/trace_file.h"

namespace sojourn::trace {
namespace {

using namespace test;

constexpr std::uint64_t kEvents = 6;  // of a block

// Blocks of one stream, some of which are left out for good.
class Trace {
 public:
  model::Capture capture;
  model::Ledger ledger;

  Trace() {
    capture.open_ns = 1;
    capture.close_ns = 2;
  }

  void write(const std::vector<std::uint64_t>& blocks) const {
    const model::Schema schema = some_schema();
    auto writer = files::create_trace(path());
    REQUIRE(writer);
    REQUIRE(writer->write(schema));
    REQUIRE(writer->write(model::Stream{.id = 0}));
    for (const std::uint64_t block : blocks) {
      Events events = some_events(block, 0, kEvents, schema);
      for (Event& event : events) event.seq += kEvents * block;
      REQUIRE(writer->write(to_batch(events)));
    }
    REQUIRE(writer->write(ledger));
    REQUIRE(writer->write(capture));
    REQUIRE(writer->finish());
  }
  Reader open() const {
    auto reader = files::open_trace(path());
    REQUIRE(reader);
    return std::move(*reader);
  }
  Completeness found() const { return completeness_of(open()); }
  std::string path() const { return folder_.path("run.sjt"); }

 private:
  TemporaryDirectory folder_;
};

TEST_CASE("a file that has every hit is whole") {
  Trace trace;
  trace.capture.stream_hits = {3 * kEvents};
  trace.write({0, 1, 2});
  const Completeness found = trace.found();
  CHECK(found.is_whole());
  CHECK(found.knows_losses());
  CHECK(found.events == 3 * kEvents);
  CHECK(found.missing == 0);
}

TEST_CASE("blocks that are not there are missing, wherever they were") {
  Trace trace;
  trace.capture.stream_hits = {4 * kEvents};
  for (const std::vector<std::uint64_t>& blocks :
       std::vector<std::vector<std::uint64_t>>{{1, 2, 3}, {0, 2, 3}, {0, 1, 2}}) {
    trace.write(blocks);
    const Completeness found = trace.found();
    CHECK(found.unaccounted == kEvents);
    CHECK(found.streams.at(0).missing == kEvents);
    CHECK_FALSE(found.is_whole());
    CHECK(found.lost_or_missing() == kEvents);
  }
  trace.write({});
  CHECK(trace.found().unaccounted == 4 * kEvents);
}

TEST_CASE("hits in the ledger are lost and not missing, and unwanted ones are neither") {
  Trace trace;
  trace.capture.stream_hits = {4 * kEvents};
  trace.ledger = {{.stream = 0, .point = 0, .cause = model::LossCause::kRingFull, .count = kEvents},
                  {.stream = 0, .point = 0, .cause = model::LossCause::kFiltered, .count = 99}};
  trace.write({0, 1, 3});
  const Completeness found = trace.found();
  CHECK(found.is_whole());
  CHECK(found.missing == kEvents);
  CHECK(found.unaccounted == 0);
  CHECK(found.lost == kEvents);
  CHECK(found.filtered == 99);
  trace.write({0, 3});
  CHECK(trace.found().unaccounted == kEvents);
}

TEST_CASE("in a capture without totals the numbers show the missing hits") {
  Trace trace;
  trace.capture.close_ns = 0;
  trace.write({0, 2});
  CHECK(trace.found().unaccounted == kEvents);
  CHECK_FALSE(trace.found().ended_in_order);
  trace.capture.stream_first = {2 * kEvents};
  trace.write({2, 3});
  CHECK(trace.found().unaccounted == 0);
}

TEST_CASE("the events of a damaged block are missing once it was read") {
  Trace trace;
  trace.capture.stream_hits = {3 * kEvents};
  trace.write({0, 1, 2});
  Bytes bytes = read_bytes(trace.path());
  for (const std::size_t block : {1U, 2U}) {
    const auto info = trace.open().blocks()[block];
    Bytes damaged = bytes;
    damaged[info.offset + info.bytes - 1] ^= 1;
    write_bytes(trace.path(), damaged);
    Reader reader = trace.open();
    CHECK(completeness_of(reader).is_whole());
    REQUIRE(reader.merge([](const model::EventBatch&) { return true; }));
    const Completeness found = completeness_of(reader);
    CHECK(found.damaged_places == 1);
    CHECK(found.damaged_bytes == info.bytes);
    CHECK(found.events == 2 * kEvents);
    CHECK(found.unaccounted == kEvents);
    write_bytes(trace.path(), bytes);
  }
}

}  // namespace
}  // namespace sojourn::trace
