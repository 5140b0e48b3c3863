// The interface to threads that analysis uses. Items go from the producer to workers, each of which
// gets all of them in order, and then to the caller. The implementation decides whether several
// threads do that. The plain one does all of it in the caller's thread, one item after the other.
// The result is the same.
#pragma once

#include <cstddef>
#include <functional>
#include <vector>

namespace sojourn {

// The steps of a job. An item lies in a slot, a number below Executor::kSlots, by which each step
// finds it in an array of its own.
struct Pipeline {
  using Slot = std::size_t;
  using Fill = std::function<void(Slot)>;
  // Has `fill` put the next item into a free slot, and hands it on. Returns false if the job was
  // stopped; then `fill` was not called.
  using Put = std::function<bool(const Fill& fill)>;

  std::function<void(const Put& put)> make;  // returns after the last item
  std::vector<std::function<void(Slot)>> workers;
  // In the caller's thread, when all workers are done with the item. False stops it all.
  std::function<bool(Slot)> finish;
};

class Executor {
 public:
  static constexpr std::size_t kSlots = 8;  // items under way at once

  Executor() = default;
  Executor(const Executor&) = delete;
  Executor& operator=(const Executor&) = delete;
  virtual ~Executor() = default;

  // The number of threads that can work at once.
  virtual unsigned processors() const { return 1; }
  // Runs the pipeline to its end. No thread of it runs any more when this returns.
  virtual void run(const Pipeline& pipeline) = 0;
};

class PlainExecutor : public Executor {
 public:
  void run(const Pipeline& pipeline) override {
    bool stopped = false;
    pipeline.make([&](const Pipeline::Fill& fill) {
      if (stopped) return false;
      fill(0);
      for (const auto& work : pipeline.workers) work(0);
      stopped = !pipeline.finish(0);
      return true;
    });
  }
};

}  // namespace sojourn
