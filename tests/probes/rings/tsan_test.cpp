// Producers and a reader of the same rings under the thread sanitizer. Prints how much was
// received.
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
  // More than the rings hold: the reader has come round among the hits, not only after them.
  constexpr std::uint64_t kTaken = 3'000;
  OwnArena arena(SJ_RING_STOP, SJ_RING_PAGE);
  std::atomic<bool> stop = false;
  // Relaxed, so that these do not order the accesses that the rings should.
  std::atomic<std::uint64_t> taken = 0;
  std::atomic<std::uint64_t> hits = 0;
  std::thread reader([&] {
    while (!stop) {
      arena.drain();
      std::uint64_t records = 0;
      for (const auto& [owner, stream] : arena.streams()) records += stream.records.size();
      taken.store(records, std::memory_order_relaxed);
    }
    arena.drain();
  });
  std::vector<std::thread> producers;
  for (int i = 0; i < kThreads; ++i)
    producers.emplace_back([&] {
      std::uint64_t number = 0;
      for (; number < kHits || taken.load(std::memory_order_relaxed) < kTaken; ++number)
        sojourn::test::hit_in_c(1, number);
      hits.fetch_add(number, std::memory_order_relaxed);
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
  return kept + lost == hits && kept > 0 ? 0 : 1;
}
