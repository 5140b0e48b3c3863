// The registry of queues: what C and C++ register, seen as a collector sees it.
#include <algorithm>
#include <atomic>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <thread>
#include <vector>

#include <catch2/catch_test_macros.hpp>
#include <sojourn/queue.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

extern "C" {
#include "probes/src/rings.h"
}
#include "tests/support/arena_view.h"
#include "tests/unit/probes/queue_form.h"

namespace sojourn {
namespace {

using capture::Queue;
using test::ArenaView;

// Runs `work` in a forked child, and returns the child's exit code.
int in_child(const std::function<int()>& work) {
  std::fflush(stdout);
  const pid_t child = fork();
  if (child == 0) _exit(work());
  int status = 0;
  REQUIRE(waitpid(child, &status, 0) == child);
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

// A child that lives until it is released.
class Waiting {
 public:
  explicit Waiting(const std::function<void()>& work) {
    REQUIRE(pipe(ready_) == 0);
    REQUIRE(pipe(end_) == 0);
    std::fflush(stdout);
    pid_ = fork();
    if (pid_ != 0) {
      char byte = 0;
      REQUIRE(read(ready_[0], &byte, 1) == 1);
      return;
    }
    work();
    char byte = 0;
    if (write(ready_[1], &byte, 1) == 1) (void)!read(end_[0], &byte, 1);
    _exit(0);
  }
  ~Waiting() {
    (void)!write(end_[1], "", 1);
    waitpid(pid_, nullptr, 0);
    for (const int fd : {ready_[0], ready_[1], end_[0], end_[1]}) close(fd);
  }
  Waiting(const Waiting&) = delete;
  Waiting& operator=(const Waiting&) = delete;

  pid_t pid() const { return pid_; }

 private:
  int ready_[2] = {-1, -1};
  int end_[2] = {-1, -1};
  pid_t pid_ = -1;
};

const Queue* find(const capture::Queues& queues, std::string_view name) {
  const auto found = std::ranges::find(queues.queues, name, &Queue::name);
  return found == queues.queues.end() ? nullptr : &*found;
}

TEST_CASE("a queue that C registers is seen from outside with all that was said of it") {
  const ArenaView view(getpid());
  sj_queue* const queue = form_open();
  const Queue seen = view.one("form.tx");
  CHECK(seen.kind == "pool");
  CHECK(seen.producer.stage == "pdcp");
  CHECK(seen.producer.instance == 3);
  CHECK(seen.producer.pid == 11);
  CHECK(seen.consumer.stage == "mac");
  CHECK(seen.consumer.instance == 0);
  CHECK(seen.consumer.pid == 12);
  CHECK(seen.group == 7);
  CHECK(seen.capacity == 1024);
  CHECK(seen.address != 0);
  CHECK(seen.id == sj_queue_id(queue));
  CHECK(seen.counts.in == 0);
  CHECK(seen.counts.out == 0);
  form_end(queue);
  CHECK(view.named("form.tx").empty());
}

TEST_CASE("a queue that C++ registers is seen from outside with all that was said of it") {
  const ArenaView view(getpid());
  const int object = 0;
  sj_queue* const queue = SJ_QUEUE("cxx.tx", .kind = SJ_QUEUE_BIDIRECTIONAL,
                                   .producer = {"pdcp", -1}, .capacity = 9, .address = &object);
  const Queue seen = view.one("cxx.tx");
  CHECK(seen.kind == "bidirectional");
  CHECK(seen.producer.stage == "pdcp");
  CHECK(seen.producer.instance == -1);
  CHECK(seen.consumer.stage.empty());
  CHECK(seen.consumer.instance == -1);
  CHECK(seen.group == 0);
  CHECK(seen.address == reinterpret_cast<std::uintptr_t>(&object));
  SJ_QUEUE_END(queue);
}

TEST_CASE("every way to count adds up") {
  const ArenaView view(getpid());
  sj_queue* const queue = form_open();
  form_count(queue);
  CHECK(view.one("form.tx").counts.in == 11);
  CHECK(view.one("form.tx").counts.out == 6);
  CHECK(view.one("form.tx").counts.depth() == 5);
  CHECK(sj_queue_depth(queue) == 5);
  form_end(queue);
}

TEST_CASE("blank members can be filled in later, the others stay") {
  const ArenaView view(getpid());
  sj_queue* const blank = form_blank();
  Queue seen = view.one("form.blank");
  CHECK(seen.kind == "stage");
  CHECK(seen.consumer.stage.empty());
  CHECK(seen.capacity == 0);

  form_describe(blank);
  CHECK(SJ_QUEUE_DESCRIBE(blank, .producer = {"pdcp", 1}, .group = 4));
  seen = view.one("form.blank");
  CHECK(seen.producer.stage == "pdcp");
  CHECK(seen.producer.instance == 1);
  CHECK(seen.consumer.stage == "mac");
  CHECK(seen.consumer.instance == 2);
  CHECK(seen.group == 4);
  CHECK(seen.capacity == 5);
  form_end(blank);
}

TEST_CASE("texts that are too long are cut, never run on") {
  const ArenaView view(getpid());
  const std::string name(SJ_QUEUE_NAME_BYTES + 40, 'n');
  const std::string stage(SJ_QUEUE_STAGE_BYTES + 40, 's');
  sj_queue* const queue = SJ_QUEUE(name.c_str(), .producer = {stage.c_str(), 1});
  CHECK(view.one(name.substr(0, SJ_QUEUE_NAME_BYTES)).producer.stage ==
        stage.substr(0, SJ_QUEUE_STAGE_BYTES));
  SJ_QUEUE_END(queue);
}

TEST_CASE("a place that is used again has another id and counts from 0") {
  const ArenaView view(getpid());
  sj_queue* const first = SJ_QUEUE("again.first");
  SJ_ENQUEUE_N(first, 5);
  const Queue seen = view.one("again.first");
  SJ_QUEUE_END(first);
  // For a sampler that comes late.
  const auto last = capture::read_counts(*seen.slot, seen.id);
  REQUIRE(last);
  CHECK(last->in == 5);

  sj_queue* const second = SJ_QUEUE("again.second");
  REQUIRE(second == first);
  CHECK(view.one("again.second").id != seen.id);
  CHECK(view.one("again.second").counts.in == 0);
  CHECK_FALSE(capture::read_counts(*seen.slot, seen.id));
  SJ_QUEUE_END(second);
}

TEST_CASE("without a place left, counting goes on unseen and the refusal is counted") {
  const ArenaView view(getpid());
  const std::uint64_t places = sj_runtime.arena->queue_slots;
  const std::uint64_t refused_before = view.queues().refused;
  std::vector<sj_queue*> queues;
  for (std::uint64_t i = 0; i < places; ++i) queues.push_back(SJ_QUEUE("exhaust.seen"));
  CHECK(view.named("exhaust.seen").size() == places);
  CHECK(std::ranges::none_of(queues, [](const sj_queue* one) { return sj_queue_id(one) == 0; }));

  sj_queue* const unseen = SJ_QUEUE("exhaust.unseen");
  REQUIRE(unseen != nullptr);
  CHECK(sj_queue_id(unseen) == 0);
  form_count(unseen);
  CHECK(SJ_QUEUE_DESCRIBE(unseen, .capacity = 3));
  CHECK(view.named("exhaust.unseen").empty());
  CHECK(view.queues().refused == refused_before + 1);
  SJ_QUEUE_END(unseen);

  for (sj_queue* queue : queues) SJ_QUEUE_END(queue);
  CHECK(view.queues().queues.empty());
  sj_queue* const again = SJ_QUEUE("exhaust.again");
  CHECK(sj_queue_id(again) != 0);
  SJ_QUEUE_END(again);
}

TEST_CASE("without rings the macros do nothing, and their results may still be counted on") {
  const ArenaView view(getpid());
  const std::size_t before = view.queues().queues.size();
  sj_queue* const queue = off_open();
  REQUIRE(queue != nullptr);
  CHECK(off_count(queue) == 0);
  form_count(queue);
  CHECK(view.queues().queues.size() == before);
  form_end(queue);
}

TEST_CASE("threads that register, describe, count and deregister at once lose no count") {
  constexpr int kThreads = 4;
  constexpr int kRounds = 400;
  sj_queue* const shared = SJ_QUEUE("threads.shared");
  std::atomic<int> twice = 0;
  std::atomic<bool> ended = false;
  // Reads the very memory that the others write, for the sanitizer to see both.
  const auto* const memory = reinterpret_cast<const std::byte*>(sj_runtime.arena);
  const std::span own_arena(memory, sj_runtime.arena->total_bytes);
  std::thread reader([&] {
    while (!ended) {
      const auto queues = capture::read_queues(own_arena, getpid());
      for (const Queue& queue : queues->queues)
        if (queue.name != "threads.shared" && queue.name != queue.producer.stage) ++twice;
    }
  });
  std::vector<std::thread> threads;
  for (int thread = 0; thread < kThreads; ++thread) {
    threads.emplace_back([&, thread] {
      const std::string names[] = {"threads." + std::to_string(thread) + ".a",
                                   "threads." + std::to_string(thread) + ".other"};
      for (int round = 0; round < kRounds; ++round) {
        const std::string& first = names[round % 2];
        const std::string& second = names[(round + 1) % 2];
        sj_queue* const own = SJ_QUEUE(first.c_str(), .producer = {first.c_str(), round});
        SJ_ENQUEUE_LOCKED(own);
        SJ_ENQUEUE(shared);
        // Name and stage change together, or not at all.
        const sj_queue_spec renamed{.name = second.c_str(), .producer = {second.c_str(), round}};
        if (!describe_queue(own, renamed)) ++twice;
        SJ_DEQUEUE_LOCKED(own);
        SJ_DEQUEUE(shared);
        if (own->in != 1 || own->out != 1) ++twice;
        SJ_QUEUE_END(own);
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  ended = true;
  reader.join();
  CHECK(twice == 0);
  CHECK(shared->in == kThreads * kRounds);
  CHECK(shared->out == kThreads * kRounds);
  SJ_QUEUE_END(shared);
}

TEST_CASE("threads that describe one queue leave one description, whole") {
  sj_queue* const queue = SJ_QUEUE("one.start");
  std::vector<std::thread> threads;
  for (int thread = 0; thread < 3; ++thread) {
    threads.emplace_back([queue, thread] {
      const std::string name = "one." + std::to_string(thread);
      const sj_queue_spec spec{.name = name.c_str(), .producer = {name.c_str(), thread}};
      for (int round = 0; round < 300; ++round) describe_queue(queue, spec);
    });
  }
  for (std::thread& thread : threads) thread.join();
  const ArenaView view(getpid());
  const auto queues = view.queues();
  REQUIRE(queues.queues.size() == 1);
  CHECK(queues.unsteady == 0);
  CHECK(queues.queues.front().name == queues.queues.front().producer.stage);
  SJ_QUEUE_END(queue);
}

std::atomic<sj_queue*> interrupted = nullptr;
std::atomic<int> handled = 0;

extern "C" void register_in_handler(int) {
  sj_queue* const own = SJ_QUEUE("handler.own");
  // May interrupt this very queue's description, and then must give up, not wait.
  SJ_QUEUE_DESCRIBE(interrupted.load(), .group = 5);
  SJ_ENQUEUE(own);
  SJ_QUEUE_END(own);
  ++handled;
}

TEST_CASE("a signal handler registers while its thread does") {
  const ArenaView view(getpid());
  interrupted = SJ_QUEUE("handler.interrupted");
  struct sigaction action = {}, before = {};
  action.sa_handler = register_in_handler;
  REQUIRE(sigaction(SIGUSR1, &action, &before) == 0);
  std::atomic<bool> ended = false;
  std::atomic<int> done = 0;
  std::thread worker([&] {
    while (!ended) {
      sj_queue* const own = SJ_QUEUE("handler.thread");
      SJ_QUEUE_DESCRIBE(interrupted.load(), .capacity = 5);
      SJ_QUEUE_END(own);
      ++done;
    }
  });
  // A handler that comes in the middle of a description leaves its own undone: it takes many.
  while (handled < 200 || done == 0) {
    pthread_kill(worker.native_handle(), SIGUSR1);
    std::this_thread::yield();
  }
  ended = true;
  worker.join();
  sigaction(SIGUSR1, &before, nullptr);
  CHECK(view.queues().unsteady == 0);
  REQUIRE(view.queues().queues.size() == 1);
  CHECK(view.one("handler.interrupted").capacity == 5);
  CHECK(view.one("handler.interrupted").group == 5);
  SJ_QUEUE_END(interrupted.load());
}

TEST_CASE("a forked child has copies of its parent's queues and counts on its own") {
  const ArenaView view(getpid());
  sj_queue* const queue = form_open();
  SJ_ENQUEUE_N(queue, 10);
  {
    const Waiting child([&] {
      SJ_DEQUEUE_N(queue, 4);
      SJ_QUEUE("fork.childs");
    });
    SJ_ENQUEUE(queue);
    CHECK(view.one("form.tx").counts.in == 11);
    CHECK(view.one("form.tx").counts.out == 0);
    CHECK(view.named("fork.childs").empty());

    const auto childs = view.queues(child.pid());
    REQUIRE(find(childs, "form.tx") != nullptr);
    CHECK(find(childs, "form.tx")->counts.in == 10);
    CHECK(find(childs, "form.tx")->counts.out == 4);
    CHECK(find(childs, "form.tx")->producer.stage == "pdcp");
    CHECK(find(childs, "fork.childs") != nullptr);
  }
  form_end(queue);
}

TEST_CASE("a queue between processes has one pair of counters after a fork") {
  const ArenaView view(getpid());
  sj_queue* const queue = SJ_QUEUE("fork.joint", .kind = SJ_QUEUE_BETWEEN_PROCESSES);
  SJ_ENQUEUE_N(queue, 10);
  CHECK(in_child([&] {
          SJ_DEQUEUE_N(queue, 4);
          SJ_QUEUE_DESCRIBE(queue, .consumer_pid = getpid());
          return 0;
        }) == 0);
  const Queue seen = view.one("fork.joint");
  CHECK(seen.kind == "between processes");
  CHECK(seen.counts.in == 10);
  CHECK(seen.counts.out == 4);
  CHECK(seen.consumer.pid != 0);
  SJ_QUEUE_END(queue);
}

TEST_CASE("a forked child's child counts on its own as well") {
  const ArenaView view(getpid());
  sj_queue* const queue = SJ_QUEUE("fork.grand");
  SJ_ENQUEUE(queue);
  CHECK(in_child([&] {
          SJ_ENQUEUE(queue);
          const Waiting grandchild([&] { SJ_ENQUEUE_N(queue, 5); });
          const auto* const own = find(view.queues(getpid()), "fork.grand");
          const auto grand = view.queues(grandchild.pid());
          if (own == nullptr || find(grand, "fork.grand") == nullptr) return 1;
          if (queue->in != 2) return 2;
          return find(grand, "fork.grand")->counts.in == 7 ? 0 : 3;
        }) == 0);
  CHECK(queue->in == 1);
  SJ_QUEUE_END(queue);
}

TEST_CASE("any number of forked children, one after the other, can be seen") {
  const ArenaView view(getpid());
  sj_queue* const queue = SJ_QUEUE("fork.many");
  for (std::uint64_t i = 1; i <= 3 * SJ_QUEUE_TABLES; ++i) {
    const Waiting child([&] { SJ_ENQUEUE_N(queue, i); });
    const auto childs = view.queues(child.pid());
    REQUIRE(find(childs, "fork.many") != nullptr);
    REQUIRE(find(childs, "fork.many")->counts.in == i);
  }
  CHECK(queue->in == 0);
  SJ_QUEUE_END(queue);
}

TEST_CASE("more forked children at once than there are tables run on, unseen") {
  const ArenaView view(getpid());
  sj_queue* const queue = SJ_QUEUE("fork.crowd");
  std::vector<std::unique_ptr<Waiting>> children;
  for (int i = 0; i < SJ_QUEUE_TABLES + 2; ++i) {
    children.push_back(std::make_unique<Waiting>([&] {
      SJ_ENQUEUE(queue);
      SJ_ENQUEUE(SJ_QUEUE("fork.crowd.own"));
    }));
  }
  CHECK(find(view.queues(children.front()->pid()), "fork.crowd.own") != nullptr);
  CHECK(find(view.queues(children.back()->pid()), "fork.crowd.own") == nullptr);
  CHECK(queue->in == 0);
  SJ_QUEUE_END(queue);
}

// ---- a hostile arena ----

class Forged {
 public:
  Forged() : view_(getpid()), words_(view_.bytes().size() / sizeof(std::uint64_t)) {
    std::memcpy(words_.data(), view_.bytes().data(), view_.bytes().size());
  }

  sj_arena& arena() { return *reinterpret_cast<sj_arena*>(words_.data()); }
  sj_queue& queue(std::size_t slot) {
    auto* const first = reinterpret_cast<std::byte*>(words_.data()) + arena().queues_offset +
                        SJ_QUEUE_TABLE_FIRST * arena().queue_table_stride;
    return reinterpret_cast<sj_queue*>(first)[slot];
  }
  Result<capture::Queues> read() const { return read(words_.size() * sizeof(words_[0])); }
  Result<capture::Queues> read(std::size_t size) const {
    return capture::read_queues(std::as_bytes(std::span(words_)).first(size), getpid());
  }

 private:
  ArenaView view_;
  std::vector<std::uint64_t> words_;
};

TEST_CASE("an arena that lies about its tables is refused") {
  CHECK(Forged().read());
  CHECK(Forged().read(100).error().text() == "no ring arena: 100 bytes");
  CHECK_FALSE(Forged().read(sizeof(sj_arena)));
  const auto refused = [](const std::function<void(sj_arena&)>& forge) {
    Forged forged;
    forge(forged.arena());
    const auto read = forged.read();
    return read ? "accepted" : read.error().text();
  };
  CHECK(refused([](sj_arena& arena) { arena.magic = 1; }) == "no ring arena: no mark of one");
  CHECK(refused([](sj_arena& arena) { arena.version = 77; }) ==
        "a ring arena of version 77, this is for 1");
  CHECK(refused([](sj_arena& arena) { arena.queues_offset = UINT64_MAX - 7; }) != "accepted");
  CHECK(refused([](sj_arena& arena) { arena.queues_offset += 1; }) != "accepted");
  CHECK(refused([](sj_arena& arena) { arena.queue_slots = UINT64_MAX / 320; }) != "accepted");
  CHECK(refused([](sj_arena& arena) { arena.queue_slots += 100; }) != "accepted");
  CHECK(refused([](sj_arena& arena) { arena.queue_table_stride = UINT64_MAX / 16; }) != "accepted");
  CHECK(refused([](sj_arena& arena) { arena.queue_table_stride += 4; }) != "accepted");
}

TEST_CASE("slots that lie are read without harm") {
  Forged forged;
  for (sj_queue_table& table : forged.arena().queue_table) table.used = UINT32_MAX;
  sj_queue& queue = forged.queue(0);
  queue.state = SJ_QUEUE_LIVE;
  queue.id = 1;
  queue.in = 3;
  queue.out = 5;
  queue.generation = 2;
  std::memset(&queue.about, 0xff, sizeof(queue.about));
  forged.queue(1).state = SJ_QUEUE_LIVE;
  forged.queue(1).id = 2;
  forged.queue(1).generation = 3;  // for ever
  forged.queue(2).state = 99;
  const auto read = forged.read();
  REQUIRE(read);
  REQUIRE(read->queues.size() == 1);
  CHECK(read->unsteady == 1);
  CHECK(read->queues.front().name == std::string(SJ_QUEUE_NAME_BYTES, '\xff'));
  CHECK(read->queues.front().kind == "unknown");
  CHECK(read->queues.front().counts.depth() == 0);
}

}  // namespace
}  // namespace sojourn
