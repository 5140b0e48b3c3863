// Queues with a known history: one that moves items one by one, with their events, one that is
// registered, described and removed, a pool that is nearly used up. Usage: NAME ITEMS. Writes
// "ready" to descriptor 3, begins a moment later, writes "done", and waits to be ended.
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <thread>

#include <sojourn/queue.h>
#include <unistd.h>

int main(int argc, char** argv) {
  const long items = argc > 1 ? std::atol(argv[1]) : 100;
  sj_queue* const moves =
      SJ_QUEUE("items", .producer = {"front", 0}, .consumer = {"back", 1}, .capacity = 8);
  sj_queue* const pool = SJ_QUEUE("buffers", .kind = SJ_QUEUE_POOL, .capacity = 10);
  SJ_ENQUEUE_N(pool, 10);
  SJ_DEQUEUE_N(pool, 9);
  (void)!write(3, "ready\n", 6);

  std::this_thread::sleep_for(std::chrono::milliseconds(300));
  sj_queue* guest = nullptr;
  for (long item = 0; item < items; ++item) {
    SJ_ENQUEUE_ITEM(moves, item);
    std::this_thread::sleep_for(std::chrono::microseconds(300));
    SJ_DEQUEUE_ITEM(moves, item);
    if (item == items / 4) guest = SJ_QUEUE("guest");
    if (item == items / 2) {
      SJ_QUEUE_DESCRIBE(guest, .consumer = {"late", 3});
      SJ_ENQUEUE_N(guest, 17);
    }
    if (item == items * 3 / 4) SJ_QUEUE_END(guest);
  }
  std::puts("done");
  std::fflush(stdout);
  std::this_thread::sleep_for(std::chrono::minutes(1));
}
