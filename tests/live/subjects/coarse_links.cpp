// A C++ program without points, in which no number stays with a unit all the way: buffers are
// copied and used again at once, some functions lack values that only their callers have, and
// exceptions go through it all. Every unit carries its own number, which no map uses as an id. Runs
// until a signal ends it.
#include <condition_variable>
#include <cstdint>
#include <cstdio>
#include <deque>
#include <mutex>
#include <stdexcept>
#include <thread>
#include <vector>

#include <unistd.h>

#define OPAQUE [[gnu::noipa, gnu::used]]

namespace {

struct Buffer {
  std::uint64_t head = 0;
  std::uint32_t number = 0;  // at 8
};

// A pool that gives out the buffer that was given back last.
class Pool {
 public:
  Pool() {
    for (Buffer& one : all_) free_.push_back(&one);
  }
  Buffer* take() {
    const std::lock_guard lock(mutex_);
    if (free_.empty()) return nullptr;
    Buffer* const one = free_.back();
    free_.pop_back();
    return one;
  }
  void give(Buffer* one) {
    const std::lock_guard lock(mutex_);
    free_.push_back(one);
  }

 private:
  Buffer all_[8];
  std::mutex mutex_;
  std::vector<Buffer*> free_;
};

template <typename Item>
class Queue {
 public:
  void push(Item item) {
    {
      const std::lock_guard lock(mutex_);
      items_.push_back(item);
    }
    filled_.notify_one();
  }
  Item pop() {
    std::unique_lock lock(mutex_);
    filled_.wait(lock, [this] { return !items_.empty(); });
    const Item item = items_.front();
    items_.pop_front();
    return item;
  }

 private:
  std::mutex mutex_;
  std::condition_variable filled_;
  std::deque<Item> items_;
};

struct Block {
  std::uint32_t slot = 0;
  std::uint16_t rnti = 0;   // at 4
  std::uint32_t first = 0;  // at 8: number of the first unit in it
  std::uint32_t units = 0;  // at 12
};

Pool received;
Pool copies;
Queue<Buffer*> to_network;
Queue<Block> to_radio;

}  // namespace

namespace radio {

// Uplink: a received buffer is copied within the call, and the copy goes on.
OPAQUE void accept(Buffer* copy) {
  to_network.push(copy);
}

// One unit in five is thrown away, and one in three leaves by an exception after it was copied.
OPAQUE void handle_pdu(Buffer* buffer) {
  if (buffer->number % 5 == 0) return;
  Buffer* const copy = copies.take();
  if (copy == nullptr) return;
  copy->number = buffer->number;
  accept(copy);
  if (buffer->number % 3 == 0) throw std::runtime_error("late");
}

OPAQUE void receive(Buffer* buffer) {
  handle_pdu(buffer);
  buffer->head = buffer->number;
}

OPAQUE void send(Buffer* copy) {
  copy->head = 0;
}

// Downlink: only the slot's own function knows the slot, and only the user's the RNTI.
OPAQUE void pull(std::uint32_t number) {
  asm volatile("" : : "r"(number) : "memory");
}

OPAQUE Block assemble(std::uint16_t rnti, std::uint32_t first, std::uint32_t units) {
  for (std::uint32_t at = 0; at < units; ++at) pull(first + at);
  return {.slot = 0, .rnti = rnti, .first = first, .units = units};
}

OPAQUE void slot(std::uint32_t slot, std::uint32_t& number) {
  for (std::uint16_t user = 0; user < 3; ++user) {
    Block block = assemble(static_cast<std::uint16_t>(0x4601 + user), number, (slot + user) % 3);
    block.slot = slot;
    number += block.units;
    if (block.units != 0) to_radio.push(block);
  }
}

OPAQUE void transmit(const Block& block) {
  asm volatile("" : : "r"(&block) : "memory");
}

// One after the other on their thread: each by itself, and three at a time.
OPAQUE void begin(std::uint32_t number) {
  asm volatile("" : : "r"(number) : "memory");
}
OPAQUE void end(std::uint32_t number) {
  asm volatile("" : : "r"(number) : "memory");
}
OPAQUE void collect(std::uint32_t number) {
  asm volatile("" : : "r"(number) : "memory");
}
OPAQUE void flush(std::uint32_t last) {
  asm volatile("" : : "r"(last) : "memory");
}

}  // namespace radio

int main() {
  std::thread([] {
    for (;;) {
      Buffer* const copy = to_network.pop();
      radio::send(copy);
      copies.give(copy);
    }
  }).detach();
  std::thread([] {
    for (;;) radio::transmit(to_radio.pop());
  }).detach();
  std::thread([] {
    std::uint32_t number = 0;
    for (std::uint32_t slot = 0;; ++slot) {
      radio::slot(slot, number);
      usleep(1000);
    }
  }).detach();
  // Two of the same, so that their order is that of each thread and no other.
  for (std::uint32_t thread = 0; thread < 2; ++thread)
    std::thread([thread] {
      for (std::uint32_t number = thread << 31;; number += 3) {
        for (std::uint32_t at = 0; at < 3; ++at) {
          radio::begin(number + at);
          radio::collect(number + at);
          // The first of three never ends.
          if (at != 0) radio::end(number + at);
        }
        radio::flush(number + 2);
        usleep(500);
      }
    }).detach();
  std::puts("ready");
  std::fflush(stdout);
  for (std::uint32_t number = 1;; ++number) {
    Buffer* const buffer = received.take();
    buffer->number = number;
    try {
      radio::receive(buffer);
    } catch (const std::runtime_error&) {
      buffer->head = 1;
    }
    received.give(buffer);
    usleep(300);
  }
}
