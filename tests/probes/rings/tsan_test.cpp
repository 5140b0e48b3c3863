// Producers and a reader of the same rings under the thread sanitizer. Prints what came through.
#include <atomic>
#include <chrono>
#include <cstdio>
#include <thread>
#include <vector>

#include "tests/probes/rings/hit_in_c.h"

int main() {
  using sojourn::test::OwnArena;
  constexpr int kThreads = 3;
  constexpr std::uint64_t kHits = 30'000;
  OwnArena arena(SJ_RING_STOP, SJ_RING_PAGE);
  std::atomic<bool> stop = false;
  std::thread reader([&] {
    while (!stop) arena.drain();
    arena.drain();
  });
  std::vector<std::thread> producers;
  for (int i = 0; i < kThreads; ++i)
    producers.emplace_back([] {
      for (std::uint64_t number = 0; number < kHits; ++number) sojourn::test::hit_in_c(1, number);
    });
  for (std::thread& producer : producers) producer.join();
  stop = true;
  reader.join();

  std::uint64_t kept = 0;
  std::uint64_t lost = 0;
  for (const auto& [owner, stream] : arena.streams()) {
    if (stream.damaged) return std::puts("damaged"), 1;
    kept += stream.records.size();
    lost += stream.lost;
  }
  std::printf("kept %llu lost %llu\n", static_cast<unsigned long long>(kept),
              static_cast<unsigned long long>(lost));
  return kept + lost == kThreads * kHits && kept > 0 ? 0 : 1;
}
