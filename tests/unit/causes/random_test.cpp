// Random kernel context, with random gaps: parts always add up to latencies and lie within them
// (Scene::explain compares the sums).
#include <random>
#include <vector>

#include <catch2/catch_test_macros.hpp>
#include <catch2/generators/catch_generators.hpp>
#include <catch2/generators/catch_generators_range.hpp>

#include "tests/unit/causes/scene.h"

namespace sojourn::causes {
namespace {

using namespace test;

class Dice {
 public:
  explicit Dice(unsigned seed) : random_(seed) {}
  std::uint64_t up_to(std::uint64_t most) {
    return std::uniform_int_distribution<std::uint64_t>(0, most)(random_);
  }

 private:
  std::mt19937_64 random_;
};

void something_happens(Scene& scene, Dice& dice, std::uint64_t ts_ns) {
  const auto tid = static_cast<std::uint32_t>(kFeeder + dice.up_to(2));
  const auto cpu = static_cast<std::uint32_t>(dice.up_to(1));
  switch (dice.up_to(6)) {
    case 0:
      scene.on_switch(ts_ns, cpu, tid, dice.up_to(1), 900);
      return;
    case 1:
      scene.on_switch(ts_ns, cpu, 900, 1, tid);
      return;
    case 2:
      scene.wakeup(ts_ns, tid, static_cast<std::uint32_t>(kFeeder + dice.up_to(2)), dice.up_to(4));
      return;
    case 3:
      scene.add(ts_ns, cpu, tid, kSoftirq, {3, dice.up_to(400)});
      return;
    case 4:
      scene.add(ts_ns, cpu, tid, kIrq, {3, dice.up_to(400), dice.up_to(1)});
      return;
    case 5:
      scene.add(ts_ns, cpu, tid, kSyscall, {230, dice.up_to(4000), 0});
      return;
    default:
      scene.add(ts_ns, cpu, tid, kFault, {1, 2, 3});
  }
}

TEST_CASE("the parts of a packet add up to its latency, whatever happened") {
  const unsigned seed = GENERATE(range(1U, 41U));
  CAPTURE(seed);
  Dice dice(seed);
  Scene scene;
  std::uint64_t ts_ns = 2000;
  std::vector<std::uint64_t> inside;
  std::uint64_t next = 0;
  std::uint64_t done = 0;
  for (int turn = 0; turn < 2000; ++turn) {
    ts_ns += 1 + dice.up_to(200);
    if (dice.up_to(3) != 0) {
      something_happens(scene, dice, ts_ns);
    } else if (!inside.empty() && dice.up_to(1) == 0) {
      const auto leaves =
          inside.begin() + static_cast<std::ptrdiff_t>(dice.up_to(inside.size() - 1));
      scene.out(ts_ns, *leaves);
      inside.erase(leaves);
      ++done;
    } else {
      inside.push_back(next);
      scene.in(ts_ns, next++);
    }
  }
  REQUIRE(done > 100);
  CHECK(scene.explain().size() == done);
}

}  // namespace
}  // namespace sojourn::causes
