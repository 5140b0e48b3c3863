// Empties the per-CPU ring buffers into batches of one stream each, in the ring's order. What it
// reads was written by our own BPF programs, yet its sizes are checked. One thread owns a Drain.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "analysis/base/result.h"
#include "analysis/model/event.h"

struct ring_buffer;

namespace sojourn::capture {

class Sink;

class Drain {
 public:
  static Result<Drain> create(const std::vector<int>& ring_fds, Sink& sink);
  Drain(Drain&&) noexcept;
  Drain& operator=(Drain&&) noexcept;
  ~Drain();

  // Takes what is in the rings, at most a batch of each; full batches go to the sink. True: there
  // is more. While the sink has no room nothing is taken: the rings fill up, and what they lose is
  // counted where it is lost.
  Result<bool> poll();

  // Hands over the batches that are not full yet.
  void flush();

  std::uint64_t events() const;

 private:
  struct State;
  explicit Drain(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

}  // namespace sojourn::capture
