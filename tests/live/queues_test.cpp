// The counters of a base station's queues, read from outside, compared with its own record.
#include <algorithm>
#include <chrono>
#include <map>
#include <string>
#include <thread>

#include <catch2/catch_test_macros.hpp>

#include "tests/live/programs.h"
#include "tests/support/arena_view.h"

namespace sojourn::live {
namespace {

using capture::QueueCounts;

std::map<std::string, QueueCounts> count_operations(const truth::Truth& truth) {
  std::map<std::string, QueueCounts> counts;
  for (const truth::QueueName& queue : truth.queues) counts[queue.name];
  for (const truth::QueueOp& operation : truth.queue_ops) {
    QueueCounts& queue = counts[truth.queues[operation.queue].name];
    ++(operation.action == truth::QueueAction::kEnqueue ? queue.in : queue.out);
  }
  return counts;
}

TEST_CASE("a queue's counters, read from outside, are the operations that it did") {
  Station station({"--air-loss", "0.1", "--ues", "3", "--bearers", "2"});
  const test::ArenaView view(station.pid());
  auto queues = view.queues();
  CHECK(queues.unsteady == 0);
  CHECK(queues.refused == 0);

  // While it runs: only upwards, never deeper than there is room.
  for (int sample = 0; sample < 200; ++sample) {
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
    for (capture::Queue& queue : queues.queues) {
      const auto counts = capture::read_counts(*queue.slot, queue.id);
      REQUIRE(counts);
      INFO(queue.name);
      REQUIRE(counts->in >= queue.counts.in);
      REQUIRE(counts->out >= queue.counts.out);
      REQUIRE(counts->in >= counts->out);
      REQUIRE(counts->depth() <= queue.capacity);
      queue.counts = *counts;
    }
  }

  const truth::Truth truth = station.finish();
  const auto expected = count_operations(truth);
  REQUIRE(queues.queues.size() == truth.queues.size());
  std::uint64_t operations = 0;
  for (const capture::Queue& queue : queues.queues) {
    INFO(queue.name);
    REQUIRE(expected.contains(queue.name));
    // The process is gone, the mapping is not.
    const auto last = capture::read_counts(*queue.slot, queue.id);
    REQUIRE(last);
    CHECK(last->in == expected.at(queue.name).in);
    CHECK(last->out == expected.at(queue.name).out);
    operations += last->in + last->out;
  }
  CHECK(operations == truth.queue_ops.size());
  CHECK(operations > 10000);
}

TEST_CASE("the queues of a base station show their producers and consumers") {
  Station station({"--ues", "2", "--bearers", "1"});
  const test::ArenaView view(station.pid());
  const auto queue = view.one("dl-pdcp");
  CHECK(queue.kind == "stage");
  CHECK(queue.producer.stage == "dl-gtp");
  CHECK(queue.consumer.stage == "dl-pdcp");
  CHECK(queue.capacity == 4096);
  CHECK(view.one("air").producer.stage.empty());
  const auto queues = view.queues();
  CHECK(std::ranges::count_if(queues.queues, [](const capture::Queue& one) {
          return one.name.starts_with("rlc.tx.") && one.group != 0;
        }) == 2);
}

}  // namespace
}  // namespace sojourn::live
