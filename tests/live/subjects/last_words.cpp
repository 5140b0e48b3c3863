// Threads that hit points, each numbering its hits, until one of them has hit often enough: then
// the process ends in the given way. A thread writes the number of its finished hits to a page of a
// file, so that the file shows in any case which was the last one. Usage: sj-subject-last-words
// THREADS HITS segv|kill|wait|go COUNTS_FILE. With "wait" it writes "ready" once all are done, and
// waits for a signal; with "go" it does so at the beginning, and goes on at a pace that every
// tracer can bear.
#include <atomic>
#include <csignal>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <thread>
#include <vector>

#include <fcntl.h>
#include <pthread.h>
#include <sojourn/point.h>
#include <sojourn/rings.h>
#include <sys/mman.h>
#include <unistd.h>

namespace {

struct Count {
  std::atomic<std::uint64_t> begun;
  std::atomic<std::uint64_t> done;
  std::atomic<std::uint64_t> tid;
};

void hit(std::uint32_t worker, std::uint64_t number) {
  SJ_POINT("D last.words--last.out", "len:worker:number", std::uint16_t{7}, worker, number);
}

// A thread that goes on pauses after this many hits: some 100,000 a second.
constexpr std::uint64_t kBreath = 50;

void work(std::uint32_t worker, Count& count, std::uint64_t hits, bool is_paced) {
  pthread_setname_np(pthread_self(), ("worker-" + std::to_string(worker)).c_str());
  count.tid = static_cast<std::uint64_t>(gettid());
  for (std::uint64_t number = 0; number < hits; ++number) {
    count.begun.store(number + 1, std::memory_order_relaxed);
    std::atomic_signal_fence(std::memory_order_seq_cst);
    hit(worker, number);
    std::atomic_signal_fence(std::memory_order_seq_cst);
    count.done.store(number + 1, std::memory_order_relaxed);
    if (is_paced && number % kBreath == 0) usleep(500);
  }
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 5) return 2;
  const auto workers = static_cast<std::uint32_t>(std::strtoul(argv[1], nullptr, 10));
  const std::uint64_t hits = std::strtoull(argv[2], nullptr, 10);
  const std::string ending = argv[3];
  const int file = open(argv[4], O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
  if (file < 0 || ftruncate(file, 4096) != 0) return 2;
  void* const page = mmap(nullptr, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  if (page == MAP_FAILED) return 2;
  auto* const counts = static_cast<Count*>(page);

  const bool goes_on = ending == "go";
  if (goes_on) {
    std::puts("ready");
    std::fflush(stdout);
  }
  // The first one ends the process while the others are in the middle of it.
  std::vector<std::thread> threads;
  for (std::uint32_t worker = 1; worker < workers; ++worker)
    threads.emplace_back(
        [=] { work(worker, counts[worker], ending == "wait" ? hits : UINT64_MAX, goes_on); });
  for (std::uint32_t worker = 1; worker < workers && hits != 0; ++worker)
    while (counts[worker].done.load() < 1000) usleep(100);
  work(0, counts[0], hits, goes_on);
  if (ending == "segv") *static_cast<volatile int*>(nullptr) = 1;
  if (ending == "kill") kill(getpid(), SIGKILL);
  for (std::thread& thread : threads) thread.join();
  std::puts("ready");
  std::fflush(stdout);
  pause();
}
