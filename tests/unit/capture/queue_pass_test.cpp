// Reading counters that another thread writes, on slots of the test's own.
#include "userspace/capture/queues/queue_pass.h"

#include <array>
#include <atomic>
#include <thread>
#include <vector>

#include <catch2/catch_test_macros.hpp>
#include <sojourn/ring_abi.h>

#include "userspace/base/clock.h"

namespace sojourn::capture {
namespace {

const std::atomic<std::uint64_t> kNever = UINT64_MAX;

using Row = std::pair<std::uint64_t, model::QueueSample>;  // time, sample

std::vector<Row> rows_of(QueuePass& pass) {
  const model::EventBatch batch(pass.take_rows({}));
  const model::Schema schema{{model::queue_sample_point()}};
  std::vector<Row> rows;
  for (std::size_t row = 0; row < batch.size(); ++row) {
    const auto sample = model::queue_sample(schema, batch[row]);
    REQUIRE(sample);
    rows.emplace_back(batch.ts_ns()[row], *sample);
  }
  return rows;
}

sj_queue queue_of(std::uint64_t id) {
  sj_queue queue{};
  queue.id = id;
  queue.state = SJ_QUEUE_LIVE;
  return queue;
}

TEST_CASE("looks that find nothing new are one row, and are counted in the next") {
  sj_queue queue = queue_of(7);
  QueuePass pass(false, kNever);
  pass.record_as(3, 0);
  pass.add(queue, 7, 7);
  for (int i = 0; i < 5; ++i) pass.look(1);
  queue.in = 2;
  queue.out = 1;
  pass.look(1);
  const auto rows = rows_of(pass);
  REQUIRE(rows.size() == 2);
  CHECK(rows[0].second.depth() == 0);
  CHECK(rows[0].second.same == 0);
  CHECK(rows[1].second.in == 2);
  CHECK(rows[1].second.out == 1);
  CHECK(rows[1].second.depth() == 1);
  CHECK(rows[1].second.slack == 0);
  CHECK(rows[1].second.same == 4);
  CHECK(rows[1].second.queue == 7);
  // The change came after the last look that saw the old counts.
  CHECK(rows[1].first - rows[1].second.gap_ns > rows[0].first);
  CHECK(pass.looks() == 6);
  CHECK(pass.recorded() == 2);
}

TEST_CASE("an out that is ahead of its in is a depth of nothing") {
  sj_queue queue = queue_of(7);
  queue.in = 4;
  queue.out = 5;
  QueuePass pass(false, kNever);
  pass.add(queue, 7, 7);
  pass.look(1);
  const auto rows = rows_of(pass);
  REQUIRE(rows.size() == 1);
  CHECK(rows[0].second.depth() == 0);
  CHECK(rows[0].second.out == 5);
}

TEST_CASE("a place that went to another queue gives no row to the one before") {
  sj_queue queue = queue_of(7);
  QueuePass pass(false, kNever);
  pass.add(queue, 7, 7);
  pass.look(1);
  CHECK_FALSE(pass.found_reused_slot());
  queue.id = 8;
  queue.in = 1;
  pass.look(1);
  CHECK(pass.found_reused_slot());
  CHECK_FALSE(pass.found_reused_slot());
  pass.remove(queue);
  CHECK(rows_of(pass).size() == 1);
  CHECK(pass.looks_by_queue().front().id == 7);
}

TEST_CASE("a queue that ends leaves its last counts") {
  sj_queue queue = queue_of(7);
  QueuePass pass(false, kNever);
  pass.add(queue, 7, 7);
  pass.look(1);
  queue.in = 9;
  queue.state = SJ_QUEUE_FREE;
  pass.remove(queue);
  const auto rows = rows_of(pass);
  REQUIRE(rows.size() == 2);
  CHECK(rows[1].second.in == 9);
  CHECK(pass.look(1) == 1);
  CHECK(rows_of(pass).empty());
}

TEST_CASE("an adaptive pass looks more and more rarely at idle queues, and finds a burst") {
  sj_queue queue = queue_of(7);
  QueuePass pass(true, kNever);
  pass.add(queue, 7, 7);
  std::uint32_t next = pass.look(1);
  CHECK(next == 1);
  std::vector<std::uint32_t> rests;
  for (int i = 0; i < 6; ++i) rests.push_back(next = pass.look(next));
  CHECK(rests == std::vector<std::uint32_t>{2, 4, 8, 16, 16, 16});
  rows_of(pass);

  queue.in = 40;  // a burst begins: it is seen within the longest rest, and then at every tick
  CHECK(pass.look(next) == 1);
  queue.out = 40;
  CHECK(pass.look(1) == 1);
  const auto rows = rows_of(pass);
  REQUIRE(rows.size() == 2);
  CHECK(rows[0].second.depth() == 40);
  CHECK(rows[1].second.depth() == 0);
}

TEST_CASE("queues that are not due are left alone while others move") {
  std::array<sj_queue, 2> queues = {queue_of(1), queue_of(2)};
  QueuePass pass(true, kNever);
  for (const sj_queue& queue : queues) pass.add(queue, queue.id, queue.id);
  for (int i = 0; i < 100; ++i) {
    ++queues[1].in;
    pass.look(1);
  }
  const auto looks = pass.looks_by_queue();
  CHECK(looks[1].looks == 100);
  CHECK(looks[0].looks < 15);
}

TEST_CASE("no row is stamped at the close or later, and idle queues are known until then") {
  std::array<sj_queue, 2> queues = {queue_of(1), queue_of(2)};
  std::atomic<std::uint64_t> close_ns = UINT64_MAX;
  QueuePass pass(false, close_ns);
  for (const sj_queue& queue : queues) pass.add(queue, queue.id, queue.id);
  pass.look(1);
  rows_of(pass);
  close_ns = base::monotonic_ns();
  queues[1].in = 1;  // it may be on either side of the close
  pass.look_at_all();
  const auto rows = rows_of(pass);
  REQUIRE(rows.size() == 1);
  CHECK(rows[0].second.queue == 1);
  CHECK(rows[0].first == close_ns - 1);
}

TEST_CASE("counters that never rest are sampled within bounds that hold") {
  sj_queue queue = queue_of(7);
  std::atomic<bool> end = false;
  constexpr std::uint64_t kDeepest = 3;
  // The queue is never deeper, and its depth never negative.
  std::thread writer([&] {
    while (!end) {
      for (std::uint64_t i = 0; i < kDeepest; ++i)
        __atomic_store_n(&queue.in, queue.in + 1, __ATOMIC_RELAXED);
      for (std::uint64_t i = 0; i < kDeepest; ++i)
        __atomic_store_n(&queue.out, queue.out + 1, __ATOMIC_RELEASE);
    }
  });
  QueuePass pass(false, kNever);
  pass.add(queue, 7, 7);
  std::vector<Row> rows;
  while (rows.size() < 20'000) {
    for (int i = 0; i < 1000; ++i) pass.look(1);
    for (const Row& row : rows_of(pass)) rows.push_back(row);
  }
  end = true;
  writer.join();
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const model::QueueSample& sample = rows[i].second;
    REQUIRE(sample.in + kDeepest >= sample.out);
    REQUIRE(sample.in <= sample.out + sample.slack + kDeepest);
    if (sample.slack == 0) REQUIRE(sample.in - sample.out <= kDeepest);
    if (i != 0) {
      REQUIRE(rows[i].first >= rows[i - 1].first);
      REQUIRE(sample.in >= rows[i - 1].second.in);
      REQUIRE(sample.out >= rows[i - 1].second.out);
    }
  }
}

}  // namespace
}  // namespace sojourn::capture
