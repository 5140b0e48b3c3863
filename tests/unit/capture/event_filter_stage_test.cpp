// The events that a capture leaves out by --where.
#include "userspace/capture/output/event_filter_stage.h"

#include <catch2/catch_test_macros.hpp>

namespace sojourn::capture {
namespace {

model::Schema schema() {
  model::Schema made;
  made.points = {*model::parse_point("D a--b", "len:rnti"),
                 *model::parse_point("D b--c", "::slot")};
  return made;
}

EventFilterStage filter_stage(std::string_view expression) {
  auto made = EventFilterStage::create(*filter::parse(expression), schema());
  REQUIRE(made);
  return std::move(*made);
}

TEST_CASE("numbers close up where an event was filtered, and a loss keeps its gap") {
  EventFilterStage only = filter_stage("rnti == 5");
  model::EventBatch batch;
  const std::vector<std::uint64_t> wanted = {100, 5};
  const std::vector<std::uint64_t> other = {200, 6};
  const std::vector<std::uint64_t> slot = {9};
  const auto add = [&](std::uint64_t seq, std::uint32_t stream, model::PointId point,
                       const std::vector<std::uint64_t>& values) {
    batch.append(
        {.ts_ns = seq, .seq = seq, .stream = stream, .tid = 1, .point = point, .values = values});
  };
  add(0, 0, 0, wanted);
  add(1, 0, 0, other);
  add(2, 0, 1, slot);
  add(5, 0, 0, wanted);  // 3 and 4 were lost
  add(0, 7, 0, other);
  add(1, 7, 0, wanted);
  only.apply(batch);

  REQUIRE(batch.size() == 4);
  const auto seqs = batch.seq();
  CHECK(std::vector(seqs.begin(), seqs.end()) == std::vector<std::uint64_t>{0, 1, 4, 0});
  CHECK(batch[1].point == 1);
  CHECK(batch[1].values.size() == 1);
  CHECK(batch[1].values[0] == 9);
  CHECK(batch[2].values[0] == 100);

  batch.clear();
  add(6, 0, 0, other);
  add(7, 0, 0, wanted);
  only.apply(batch);
  REQUIRE(batch.size() == 1);
  CHECK(batch.seq()[0] == 5);

  model::Ledger ledger;
  only.add_filtered(ledger);
  CHECK(ledger == model::Ledger{{0, 0, model::LossCause::kFiltered, 2},
                                {7, 0, model::LossCause::kFiltered, 1}});
  CHECK(only.filtered() == 3);
}

TEST_CASE("times count from the mark that the capture opened at, and points may come later") {
  EventFilterStage early = filter_stage("time < 1us");
  model::Schema grown = schema();
  grown.points.push_back(*model::parse_point("U c--d", "len"));
  early.adapt(grown, 10'000);
  model::EventBatch batch;
  const std::vector<std::uint64_t> one = {1};
  for (const std::uint64_t ts_ns : {10'500U, 11'500U})
    batch.append({.ts_ns = ts_ns, .seq = ts_ns - 10'500, .point = 2, .values = one});
  early.apply(batch);
  REQUIRE(batch.size() == 1);
  CHECK(batch.ts_ns()[0] == 10'500);
}

TEST_CASE("events of threads are kept until their names are known") {
  EventFilterStage only = filter_stage("thread ~ mac*");
  const std::vector<std::uint64_t> values = {1, 1};
  const auto kept = [&] {
    model::EventBatch batch;
    for (const std::uint32_t tid : {1U, 2U, 3U})
      batch.append({.ts_ns = 1, .seq = 0, .stream = 0, .tid = tid, .point = 0, .values = values});
    only.apply(batch);
    return std::vector<std::uint32_t>(batch.tid().begin(), batch.tid().end());
  };
  CHECK(kept() == std::vector<std::uint32_t>{1, 2, 3});
  only.add_thread(1, "gnb");
  only.add_thread(2, "mac_dl");
  CHECK(kept() == std::vector<std::uint32_t>{2, 3});
  only.add_thread(1, "mac_ul");
  CHECK(kept() == std::vector<std::uint32_t>{1, 2, 3});
}

TEST_CASE("a batch of which nothing is kept is empty, and can be filled again") {
  EventFilterStage none = filter_stage("len > 1k && has(len)");
  model::EventBatch batch;
  const std::vector<std::uint64_t> values = {1, 1};
  batch.append({.ts_ns = 1, .values = values});
  none.apply(batch);
  CHECK(batch.empty());
  batch.append({.ts_ns = 1, .values = values});
  CHECK(batch.size() == 1);
}

}  // namespace
}  // namespace sojourn::capture
