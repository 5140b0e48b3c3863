// The ring engine inside of a target, test by test: `rings-test NAME`, without a name all names.
// Each test runs in a process of its own, because an arena is made once, when a module is loaded.
#include <atomic>
#include <cerrno>
#include <chrono>
#include <csetjmp>
#include <csignal>
#include <cstring>
#include <string>
#include <thread>
#include <utility>

#include <sched.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/probes/rings/check.h"
#include "tests/probes/rings/own_arena.h"
#include "tests/probes/rings/points.h"

namespace sojourn::test {
namespace {

using std::chrono::milliseconds;

std::uint64_t identity(pid_t pid, pid_t tid) {
  return static_cast<std::uint64_t>(pid) << 32 | static_cast<std::uint32_t>(tid);
}

std::uint64_t own_identity() {
  return identity(getpid(), gettid());
}

// Counts the records of a kind. Every number must follow the one before, and stamps never fall.
std::uint64_t check_sequence(const Stream& stream, Kind kind) {
  CHECK(!stream.damaged);
  std::uint64_t next = 0;
  std::uint64_t stamp = 0;
  for (const Record& record : stream.records) {
    CHECK(record.stamp >= stamp);
    stamp = record.stamp;
    if (record.kind != kind) continue;
    CHECK_EQUAL(record.number, next);
    ++next;
  }
  return next;
}

// Counts the records of a kind if some may have been lost in between: numbers must rise.
std::uint64_t check_rising(const Stream& stream, Kind kind) {
  CHECK(!stream.damaged);
  std::uint64_t count = 0;
  std::uint64_t next = 0;
  for (const Record& record : stream.records) {
    if (record.kind != kind) continue;
    CHECK(record.number >= next);
    next = record.number + 1;
    ++count;
  }
  return count;
}

// Drains from another thread, to which no signal ever comes.
class Drainer {
 public:
  explicit Drainer(OwnArena& arena) {
    sigset_t all;
    sigset_t before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    thread_ = std::thread([this, &arena] {
      while (!stop_) {
        arena.drain();
        ++drains_;
        std::this_thread::sleep_for(milliseconds(1));
      }
      arena.drain();
    });
    pthread_sigmask(SIG_SETMASK, &before, nullptr);
  }
  ~Drainer() { join(); }
  // Returns when all that was written before the call is drained.
  void catch_up() const {
    const std::uint64_t before = drains_;
    while (drains_ < before + 2) std::this_thread::sleep_for(std::chrono::microseconds(200));
  }
  void join() {
    stop_ = true;
    if (thread_.joinable()) thread_.join();
  }

 private:
  std::atomic<bool> stop_ = false;
  std::atomic<std::uint64_t> drains_ = 0;
  std::thread thread_;
};

// More small hits than the smallest ring holds.
constexpr std::uint64_t kFills = SJ_RING_PAGE / 8;

// ---- kept and lost records ----

void a_drained_ring_loses_nothing() {
  OwnArena arena(SJ_RING_STOP, 1 << 20);
  Drainer drainer(arena);
  for (std::uint64_t i = 0; i < 200'000; ++i) {
    hit_small(i);
    if (i % 512 == 0) std::this_thread::sleep_for(std::chrono::microseconds(200));
    // The ring holds more than this many, however long the drainer has no CPU.
    if (i % 16'384 == 0) drainer.catch_up();
  }
  drainer.join();
  const Stream& stream = arena.streams().at(own_identity());
  CHECK_EQUAL(stream.lost, 0);
  CHECK_EQUAL(check_sequence(stream, kSmall), 200'000);
}

void a_full_ring_counts_each_loss_by_site_and_place() {
  OwnArena arena(SJ_RING_STOP, SJ_RING_PAGE);
  for (std::uint64_t i = 0; i < 10'000; ++i) hit_small(i);
  for (std::uint64_t i = 0; i < 5'000; ++i) hit_large(i);
  const sj_ring& ring = *sj_ring_self;
  const std::int64_t cursor = ring.cursor;
  arena.drain();
  const std::uint64_t kept = arena.streams().at(own_identity()).records.size();
  CHECK_EQUAL(kept + ring.lost, 15'000);
  std::uint64_t by_site = 0;
  int sites = 0;
  for (const sj_ring_loss& loss : ring.loss) {
    by_site += loss.count;
    sites += loss.count != 0;
  }
  CHECK_EQUAL(by_site, ring.lost);
  CHECK_EQUAL(sites, 2);
  std::uint64_t by_place = 0;
  for (std::uint32_t gap = 0; gap < ring.gaps_begun; ++gap) {
    CHECK(ring.gap[gap].position <= cursor);
    by_place += ring.gap[gap].count;
  }
  CHECK_EQUAL(by_place, ring.lost);
  hit_small(0);  // room again
  CHECK(ring.cursor > cursor);
}

void losses_outside_of_the_marks_do_not_count() {
  OwnArena arena(SJ_RING_STOP, SJ_RING_PAGE);
  for (std::uint64_t i = 0; i < kFills; ++i) hit_small(i);
  const std::uint64_t lost = sj_ring_self->lost;
  CHECK(lost > 0);
  arena.arena().control.close_stamp = stamp();
  for (std::uint64_t i = 0; i < kFills; ++i) hit_small(i);
  CHECK_EQUAL(sj_ring_self->lost, lost);
}

void the_flight_recorder_keeps_the_newest() {
  OwnArena arena(SJ_RING_FLIGHT, 16 * SJ_RING_PAGE);
  for (std::uint64_t i = 0; i < 100'000; ++i) i % 7 == 0 ? hit_large(i) : hit_small(i);
  const auto records = arena.newest(*sj_ring_self);
  CHECK(!records.empty());
  CHECK_EQUAL(records.back().number, 99'999);
  for (std::size_t i = 1; i < records.size(); ++i)
    CHECK_EQUAL(records[i].number, records[i - 1].number + 1);
  std::int64_t bytes = 0;
  for (const Record& record : records) bytes += OwnArena::bytes(record);
  CHECK(bytes > 14 * SJ_RING_PAGE);
  CHECK_EQUAL(sj_ring_self->lost, 0);
}

void a_dead_collector_is_noticed_and_the_point_falls_silent() {
  OwnArena arena(SJ_RING_STOP, SJ_RING_PAGE);
  hit_small(0);
  arena.arena().control.heartbeat = stamp();
  arena.arena().control.dead_after = 1'000'000;
  std::this_thread::sleep_for(milliseconds(100));
  for (std::uint64_t i = 1; i < kFills; ++i) hit_small(i);
  const std::int64_t cursor = sj_ring_self->cursor;
  CHECK_EQUAL(sj_ring_self->lost, 0);
  arena.drain();
  hit_small(0);
  CHECK_EQUAL(sj_ring_self->cursor, cursor);  // it was not armed again
}

void a_ring_of_the_wrong_size_is_left_for_another() {
  {
    OwnArena arena(SJ_RING_STOP, SJ_RING_PAGE);
    hit_small(0);
    CHECK_EQUAL(sj_ring_self->mask + 1, SJ_RING_PAGE);
  }
  OwnArena arena(SJ_RING_STOP, 4 * SJ_RING_PAGE);
  hit_small(0);
  CHECK_EQUAL(sj_ring_self->mask + 1, 4 * SJ_RING_PAGE);
  arena.drain();
  CHECK_EQUAL(check_sequence(arena.streams().at(own_identity()), kSmall), 1);
}

void without_memory_hits_are_counted_as_refused() {
  OwnArena arena(SJ_RING_STOP, 1 << 20);
  arena.arena().control.memory_ceiling = 1;
  for (std::uint64_t i = 0; i < 100; ++i) hit_small(i);
  std::uint64_t refused = 0;
  for (const sj_ring_loss& loss : arena.arena().refused) refused += loss.count;
  CHECK_EQUAL(refused, 100);
}

// ---- the code around a point ----

// Values in vector registers, errno and flags live across hits, also those that take the slow path.
void a_hit_leaves_the_code_around_it_alone() {
  OwnArena arena(SJ_RING_STOP, SJ_RING_PAGE);
  double sum = 0;
  double expected = 0;
  for (int i = 0; i < 100'000; ++i) expected += static_cast<double>(i) * 1.25 + 0.5;
  for (int i = 0; i < 100'000; ++i) {
    const double product = static_cast<double>(i) * 1.25;
    errno = i;
    const std::uint8_t kind = kSmall;
    SJ_POINT("D rings.inline--rings.out", "kind::number", kind, static_cast<std::uint64_t>(i));
    CHECK_EQUAL(errno, i);
    sum += product + 0.5;
  }
  CHECK(sum == expected);
  CHECK(sj_ring_self->lost > 0);
}

// ---- signals ----

std::atomic<std::uint64_t> handled = 0;

void hit_in_handler(int) {
  const int before = errno;
  hit_large(handled.fetch_add(1));
  errno = before;
}

void handlers_hit_points_in_the_middle_of_hits() {
  OwnArena arena(SJ_RING_STOP, 2 << 20);
  struct sigaction action{};
  action.sa_handler = hit_in_handler;
  sigaction(SIGUSR1, &action, nullptr);
  std::uint64_t hits = 0;
  hit_small(hits++);  // a handler in the middle of taking a ring takes another one
  Drainer drainer(arena);
  std::atomic<bool> stop = false;
  const pid_t victim = gettid();
  std::thread pest([&] {
    while (!stop) syscall(SYS_tgkill, getpid(), victim, SIGUSR1);
  });
  while (handled < 2'000)
    for (int i = 0; i < 64; ++i) hit_small(hits++);
  stop = true;
  pest.join();
  drainer.join();
  const Stream& stream = arena.streams().at(identity(getpid(), victim));
  std::uint64_t small = 0;
  std::uint64_t large = 0;
  std::uint64_t stamp = 0;
  CHECK(!stream.damaged);
  for (const Record& record : stream.records) {
    CHECK(record.stamp >= stamp);
    stamp = record.stamp;
    (record.kind == kSmall ? small : large) += 1;
  }
  CHECK_EQUAL(small + large + stream.lost, hits + handled);
  if (stream.lost == 0) {
    CHECK_EQUAL(check_sequence(stream, kSmall), hits);
    CHECK_EQUAL(check_sequence(stream, kLarge), handled);
  }
}

sigjmp_buf out_of_handler;

void leave_by_jump(int) {
  hit_large(handled.fetch_add(1));
  siglongjmp(out_of_handler, 1);
}

void a_handler_may_leave_by_siglongjmp() {
  OwnArena arena(SJ_RING_STOP, 2 << 20);
  struct sigaction action{};
  action.sa_handler = leave_by_jump;
  sigaction(SIGALRM, &action, nullptr);
  hit_small(0);
  Drainer drainer(arena);
  const itimerval every{.it_interval = {0, 300}, .it_value = {0, 300}};
  volatile std::uint64_t small = 0;
  setitimer(ITIMER_REAL, &every, nullptr);
  if (sigsetjmp(out_of_handler, 1) == 0 || handled < 500) {
    while (handled < 500) {
      hit_small(small);
      small = small + 1;
    }
  }
  const itimerval never{};
  setitimer(ITIMER_REAL, &never, nullptr);
  drainer.join();
  const Stream& stream = arena.streams().at(own_identity());
  CHECK(!stream.damaged);
  std::uint64_t large = 0;
  std::uint64_t stamp = 0;
  for (const Record& record : stream.records) {
    CHECK(record.stamp >= stamp);
    stamp = record.stamp;
    large += record.kind == kLarge;
  }
  CHECK(large + stream.lost >= handled);
}

// ---- threads and processes ----

void thousands_of_short_lived_threads_lose_nothing() {
  OwnArena arena(SJ_RING_STOP, SJ_RING_PAGE);
  constexpr int kThreads = 4'000;
  Drainer drainer(arena);
  std::atomic<std::uint64_t> hits = 0;
  for (int i = 0; i < kThreads; ++i)
    std::thread([&] {
      for (std::uint64_t number = 0; number < 3; ++number) hit_small(number), ++hits;
    }).join();
  drainer.join();
  std::uint64_t kept = 0;
  std::uint64_t lost = 0;
  for (const auto& [owner, stream] : arena.streams()) {
    CHECK(!stream.damaged);
    kept += stream.records.size();
    lost += stream.lost;
  }
  std::uint64_t refused = 0;
  for (const sj_ring_loss& loss : arena.arena().refused) refused += loss.count;
  CHECK_EQUAL(refused, 0);
  CHECK_EQUAL(kept + lost, hits);
  CHECK_EQUAL(lost, 0);
}

void many_threads_at_once_have_rings_of_their_own() {
  OwnArena arena(SJ_RING_STOP, SJ_RING_PAGE);
  Drainer drainer(arena);
  std::vector<std::thread> threads;
  for (int i = 0; i < 64; ++i)
    threads.emplace_back([] {
      for (std::uint64_t number = 0; number < 1'000; ++number) {
        hit_small(number);
        if (number % 50 == 0) std::this_thread::sleep_for(milliseconds(2));
      }
    });
  for (std::thread& thread : threads) thread.join();
  drainer.join();
  std::size_t streams = 0;
  // A busy machine keeps the drainer from the small rings for as long as they take to fill.
  for (const auto& [owner, stream] : arena.streams()) {
    const std::uint64_t kept = check_rising(stream, kSmall);
    CHECK(kept > 0);
    CHECK_EQUAL(kept + stream.lost, 1'000);
    ++streams;
  }
  CHECK_EQUAL(streams, 64);
}

// A child hits points; the parent finds the child's hits under the child's pid, and its own as
// ever.
template <typename Clone>
void child_has_its_own_ring(Clone clone) {
  OwnArena arena(SJ_RING_STOP, 16 * SJ_RING_PAGE);
  hit_small(0);
  const pid_t child = clone();
  if (child == 0) {
    for (std::uint64_t number = 0; number < 100; ++number) hit_small(number);
    _exit(7);
  }
  hit_small(1);
  int status = 0;
  CHECK_EQUAL(waitpid(child, &status, 0), child);
  CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 7);
  hit_small(2);
  // The child made its slot accessible for itself only.
  for (std::uint64_t slot = 0; slot < arena.arena().slots_used; ++slot)
    CHECK(sj_ring_prepare(slot, 0));
  arena.drain();
  CHECK_EQUAL(check_sequence(arena.streams().at(own_identity()), kSmall), 3);
  CHECK_EQUAL(check_sequence(arena.streams().at(identity(child, child)), kSmall), 100);
}

void a_forked_child_has_its_own_ring() {
  child_has_its_own_ring([] { return fork(); });
}

void a_raw_clone_has_its_own_ring() {
  child_has_its_own_ring([] {
    return static_cast<pid_t>(syscall(SYS_clone, SIGCHLD, nullptr, nullptr, nullptr, nullptr));
  });
}

void a_child_of_vfork_writes_for_its_waiting_parent() {
  OwnArena arena(SJ_RING_STOP, 16 * SJ_RING_PAGE);
  hit_small(0);
  const pid_t child = vfork();
  if (child == 0) {
    hit_small(1);
    _exit(0);
  }
  hit_small(2);
  int status = 0;
  waitpid(child, &status, 0);
  CHECK(WIFEXITED(status));
  arena.drain();
  CHECK_EQUAL(check_sequence(arena.streams().at(own_identity()), kSmall), 3);
}

void nobody_attached_costs_no_ring() {
  for (std::uint64_t i = 0; i < 1'000; ++i) hit_small(i);
  CHECK_EQUAL(sj_runtime.arena->slots_used, 0);
}

void switched_off_is_off_for_both_engines() {
  OwnArena arena(SJ_RING_STOP, SJ_RING_PAGE);
  hit_small(0);
  const std::int64_t cursor = sj_ring_self->cursor;
  arena.flag(SJ_FLAG_OFF);
  hit_small(1);
  CHECK_EQUAL(sj_ring_self->cursor, cursor);
}

struct Test {
  const char* name;
  void (*run)();
  bool on_a_real_kernel = false;  // an emulator neither wipes pages at a clone nor knows vfork
};

#define TEST(function)  \
  Test {                \
    #function, function \
  }
#define KERNEL_TEST(function) \
  Test {                      \
    #function, function, true \
  }

const Test kTests[] = {
    TEST(a_drained_ring_loses_nothing),
    TEST(a_full_ring_counts_each_loss_by_site_and_place),
    TEST(losses_outside_of_the_marks_do_not_count),
    TEST(the_flight_recorder_keeps_the_newest),
    TEST(a_dead_collector_is_noticed_and_the_point_falls_silent),
    TEST(a_ring_of_the_wrong_size_is_left_for_another),
    TEST(without_memory_hits_are_counted_as_refused),
    TEST(a_hit_leaves_the_code_around_it_alone),
    TEST(handlers_hit_points_in_the_middle_of_hits),
    KERNEL_TEST(a_handler_may_leave_by_siglongjmp),
    TEST(thousands_of_short_lived_threads_lose_nothing),
    TEST(many_threads_at_once_have_rings_of_their_own),
    TEST(a_forked_child_has_its_own_ring),
    KERNEL_TEST(a_raw_clone_has_its_own_ring),
    KERNEL_TEST(a_child_of_vfork_writes_for_its_waiting_parent),
    TEST(nobody_attached_costs_no_ring),
    TEST(switched_off_is_off_for_both_engines),
};

}  // namespace
}  // namespace sojourn::test

int main(int argc, char** argv) {
  for (const sojourn::test::Test& test : sojourn::test::kTests) {
    if (argc < 2) std::puts(test.name);
    if (argc > 1 && std::strcmp(argv[1], test.name) == 0) {
      if (sj_runtime.arena == nullptr) {
        std::fputs("FAILED: this process has no arena\n", stderr);
        return 1;
      }
      if (test.on_a_real_kernel && std::getenv("SJ_EMULATED") != nullptr) {
        std::printf("skipped: %s needs a real kernel, this is an emulator\n", test.name);
        return 77;
      }
      test.run();
      return 0;
    }
  }
  return argc < 2 ? 0 : 2;
}
