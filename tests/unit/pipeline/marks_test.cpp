// Losses that no gap in the sequence numbers shows, as a rebuild gets them.
#include <catch2/catch_test_macros.hpp>

#include "analysis/pipeline/trace_marks.h"
#include "analysis/trace/writer.h"
#include "tests/support/child.h"
#include "userspace/files/trace_file.h"

namespace sojourn::pipeline {
namespace {

// Four events of a stream with `hits` hits, the last one at 1300.
std::vector<journeys::LossSpan> losses(std::uint64_t hits, const model::Ledger& ledger) {
  const test::TemporaryDirectory directory;
  const std::string path = directory.path("run.sjt");
  auto writer = files::create_trace(path);
  REQUIRE(writer);
  REQUIRE(writer->write(model::Schema{.points = {*model::parse_point("D in--out", "::")}}));
  REQUIRE(writer->write(model::Stream{.id = 0, .engine = model::Engine::kRing}));
  model::EventBatch batch;
  for (std::uint64_t seq = 0; seq < 4; ++seq)
    batch.append(
        {.ts_ns = 1000 + 100 * seq, .seq = seq, .stream = 0, .tid = 1, .point = 0, .values = {}});
  REQUIRE(writer->write(batch));
  REQUIRE(writer->write(ledger));
  model::Capture capture;
  capture.open_ns = 1000;
  capture.close_ns = 2000;
  capture.stream_hits = {hits};
  REQUIRE(writer->write(capture));
  REQUIRE(writer->finish());
  return capture_marks_of(*files::open_trace(path)).losses;
}

TEST_CASE("a stream that ends with all its hits has no loss behind it") {
  CHECK(losses(4, {}).empty());
}

TEST_CASE("hits that are missing behind a stream's last event were lost from there on") {
  const model::Ledger counted = {
      {.stream = 0, .point = 0, .cause = model::LossCause::kRingFull, .count = 3}};
  // Counted as lost, in blocks that the file lacks, or some of both.
  for (const auto& spans : {losses(7, counted), losses(7, {}), losses(9, counted)}) {
    REQUIRE(spans.size() == 1);
    CHECK(spans.front().begin_ns == 1300);
    CHECK(spans.front().end_ns == UINT64_MAX);
  }
}

}  // namespace
}  // namespace sojourn::pipeline
