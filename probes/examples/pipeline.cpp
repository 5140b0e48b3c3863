// Two stages in C++: packets are numbered in "tx", wait in a queue, and leave through "out".
// Usage: pipeline-cpp [PACKETS], 1000 by default. Trace it: sojourn record -- ./pipeline-cpp 100000
#include <condition_variable>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <deque>
#include <mutex>
#include <thread>

#include <sojourn/point.h>
#include <sojourn/queue.hpp>

enum class Rnti : std::uint16_t {};

struct Packet {
  Rnti rnti;
  std::uint32_t sn;
  std::uint32_t bytes;
};

class Queue {
 public:
  void push(Packet packet) {
    {
      const std::lock_guard lock(mutex_);
      packets_.push_back(packet);
    }
    changed_.notify_one();
  }

  Packet pop() {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [this] { return !packets_.empty(); });
    const Packet packet = packets_.front();
    packets_.pop_front();
    return packet;
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  sojourn::Counted<std::deque<Packet>> packets_{{"example.tx"}};  // seen from outside
};

int main(int argc, char** argv) {
  const unsigned long packet_count = argc > 1 ? std::strtoul(argv[1], nullptr, 10) : 1000;
  Queue queue;
  std::thread sender([&] {
    for (unsigned long i = 0; i < packet_count; ++i) {
      const Packet packet{Rnti{0x4601}, static_cast<std::uint32_t>(i) & 0xfff,
                          100 + static_cast<std::uint32_t>(i % 1400)};
      // Before the push: a parent's time must be earlier than its child's.
      SJ_POINT("D example.in--example.tx", "len:rnti:sn", packet.bytes, packet.rnti, packet.sn);
      queue.push(packet);
    }
  });
  unsigned long long bytes = 0;
  for (unsigned long i = 0; i < packet_count; ++i) {
    const Packet packet = queue.pop();
    SJ_POINT("D example.tx--example.out", "len:rnti:sn", packet.bytes, packet.rnti, packet.sn);
    bytes += packet.bytes;
  }
  sender.join();
  std::printf("%lu packets, %llu bytes\n", packet_count, bytes);
}
