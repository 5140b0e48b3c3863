// Empties the per-CPU rings into batches of one stream each, in the ring's order. The rings' memory
// must outlive it. One thread owns a Drain.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "analysis/model/event.h"
#include "userspace/capture/records/ring.h"

namespace sojourn::capture {

class Sink;

class Drain {
 public:
  // Takes full batches. By default they go to the sink.
  using HandOver = std::function<void(model::EventBatch)>;

  // The rings' streams are numbered on from `first_stream`; stamps are late by `stamp_delay_ns`.
  Drain(std::span<const Ring> rings, Sink& sink, std::uint32_t first_stream = 0,
        std::uint64_t stamp_delay_ns = 0, HandOver hand_over = nullptr);

  // Takes hits from the rings, at most a batch of each; full batches go to the sink. Returns true
  // if there are more. If the sink has no room, nothing is taken: the rings fill up, and count what
  // they lose.
  bool poll();

  // mark() notes how far the rings are filled; is_past_mark() says whether all of that was taken.
  void mark();
  bool is_past_mark() const;

  // Hands over the batches that are not full yet.
  void flush();

  std::uint64_t events() const;

 private:
  struct CpuStream {
    RingReader reader;
    std::uint32_t id = 0;
    std::uint64_t events = 0;
    model::EventBatch batch;
  };
  bool take_batch(CpuStream& stream);
  void hand_over(CpuStream& stream);

  Sink* sink_;
  std::uint64_t stamp_delay_ns_;
  HandOver hand_over_;
  std::vector<CpuStream> streams_;
};

}  // namespace sojourn::capture
