// Runs 300 functions over and over on two threads, checks their results, and has a heart that beats
// every 20 ms on a third. A beat that comes when the next one is due was missed. SIGUSR1 and
// SIGUSR2 say that tracing begins and ends; SIGTERM ends the program. Then it prints for both times
// how often its heart beat, how many beats it missed, and the greatest delay.
#include "coarse_many.h"

#include <atomic>
#include <csignal>
#include <cstdio>
#include <ctime>
#include <thread>
#include <vector>

#include <unistd.h>

namespace many {

OPAQUE void consume(Unit& unit) {
  unit.sum = unit.value * unit.number;
}
OPAQUE std::uint64_t consume_number(std::uint64_t value) {
  return value / 3;
}
OPAQUE void fail_sometimes(std::uint64_t value, std::uint64_t number) {
  if ((value + number) % 16 == 0) throw std::runtime_error("sometimes");
}

}  // namespace many

namespace {

constexpr std::int64_t kBeatNs = 20'000'000;

std::atomic<int> is_traced = 0;
std::atomic<bool> is_ended = false;

std::int64_t now_ns() {
  timespec now{};
  clock_gettime(CLOCK_MONOTONIC, &now);
  return now.tv_sec * 1'000'000'000LL + now.tv_nsec;
}

std::uint64_t run_all(std::uint64_t value) {
  std::uint64_t sum = 0;
  for (unsigned at = 0; at < many::stage_count; ++at) sum = sum * 31 + many::stages[at](value);
  return sum;
}

struct Heart {
  unsigned beats = 0;
  unsigned missed = 0;
  std::int64_t worst_ns = 0;
};

}  // namespace

int main() {
  std::signal(SIGUSR1, [](int) { is_traced = 1; });
  std::signal(SIGUSR2, [](int) { is_traced = 0; });
  std::signal(SIGTERM, [](int) { is_ended = true; });
  // The results without tracing, with which all later ones are compared.
  constexpr std::uint64_t kValues = 32;
  std::vector<std::uint64_t> wanted;
  for (std::uint64_t value = 0; value < kValues; ++value) wanted.push_back(run_all(value));
  std::atomic<std::uint64_t> rounds = 0;
  std::atomic<std::uint64_t> wrong = 0;
  std::vector<std::thread> workers;
  for (int worker = 0; worker < 2; ++worker)
    workers.emplace_back([&] {
      for (std::uint64_t value = 0; !is_ended; value = (value + 1) % kValues) {
        if (run_all(value) != wanted[value]) ++wrong;
        ++rounds;
        usleep(1000);
      }
    });
  Heart hearts[2];  // untraced, traced
  std::puts("ready");
  std::fflush(stdout);
  for (std::int64_t due_ns = now_ns() + kBeatNs; !is_ended; due_ns += kBeatNs) {
    const timespec until{.tv_sec = due_ns / 1'000'000'000, .tv_nsec = due_ns % 1'000'000'000};
    while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &until, nullptr) != 0 && !is_ended) {
    }
    const std::int64_t late_ns = now_ns() - due_ns;
    Heart& heart = hearts[is_traced];
    ++heart.beats;
    if (late_ns >= kBeatNs) ++heart.missed;
    if (late_ns > heart.worst_ns) heart.worst_ns = late_ns;
  }
  for (std::thread& worker : workers) worker.join();
  for (const Heart& heart : hearts)
    std::printf("beats %u missed %u worst_us %lld\n", heart.beats, heart.missed,
                static_cast<long long>(heart.worst_ns / 1000));
  std::printf("rounds %llu wrong %llu\n", static_cast<unsigned long long>(rounds),
              static_cast<unsigned long long>(wrong));
}
