#include "analysis/trace/merge.h"

#include <algorithm>
#include <cstdint>
#include <memory>
#include <numeric>
#include <tuple>
#include <utility>

namespace sojourn::trace {

namespace {

constexpr std::size_t kBatchEvents = 4096;

// A block's events in time order. `order` is empty where the block is in order already.
struct Run {
  model::EventBatch events;
  std::vector<std::uint32_t> order;
  std::size_t next = 0;
  std::uint32_t stream = 0;
  std::size_t block = 0;  // position in the file, which is the stream's order

  bool done() const { return next == events.size(); }
  std::size_t row() const { return order.empty() ? next : order[next]; }
  std::uint64_t ts_ns() const { return events.ts_ns()[row()]; }

  void open() {
    next = 0;
    order.clear();
    if (std::ranges::is_sorted(events.ts_ns())) return;
    order.resize(events.size());
    std::iota(order.begin(), order.end(), 0u);
    std::ranges::stable_sort(order, {}, [this](std::uint32_t at) { return events.ts_ns()[at]; });
  }
};

auto key(const Run& run) {
  return std::tuple(run.ts_ns(), run.stream, run.block);
}

// A heap whose top is the earliest run.
bool later(const Run* left, const Run* right) {
  return key(*left) > key(*right);
}

class Merger {
 public:
  Merger(const std::vector<BlockInfo>& blocks,
         const std::function<void(const BlockInfo&, model::EventBatch&)>& load)
      : blocks_(blocks), load_(load), by_start_(blocks.size()) {
    std::iota(by_start_.begin(), by_start_.end(), std::size_t{0});
    std::ranges::stable_sort(by_start_, {}, [&](std::size_t at) { return blocks[at].min_ts_ns; });
  }

  // Opens every block that may hold the earliest event. False: there are no more events.
  bool advance() {
    while (next_block_ < by_start_.size() &&
           (heap_.empty() || blocks_[by_start_[next_block_]].min_ts_ns <= heap_.front()->ts_ns()))
      open(by_start_[next_block_++]);
    return !heap_.empty();
  }

  // Takes events off the earliest run for as long as it stays the earliest, up to `most`.
  void take(model::EventBatch& into, std::size_t most) {
    std::ranges::pop_heap(heap_, later);
    Run& run = *heap_.back();
    const bool alone = heap_.size() == 1;
    const auto rival = alone ? key(run) : key(*heap_.front());
    const std::uint64_t horizon =
        next_block_ < by_start_.size() ? blocks_[by_start_[next_block_]].min_ts_ns : UINT64_MAX;
    do {
      into.append(run.events[run.row()]);
      ++run.next;
    } while (!run.done() && into.size() < most && run.ts_ns() < horizon &&
             (alone || key(run) < rival));
    if (!run.done()) {
      std::ranges::push_heap(heap_, later);
      return;
    }
    heap_.pop_back();
    spare_.push_back(&run);
  }

  std::size_t most_open() const { return runs_.size(); }

 private:
  void open(std::size_t block) {
    if (spare_.empty()) spare_.push_back(runs_.emplace_back(std::make_unique<Run>()).get());
    Run& run = *spare_.back();
    run.events.clear();
    load_(blocks_[block], run.events);
    if (run.events.empty()) return;
    run.stream = blocks_[block].stream;
    run.block = block;
    run.open();
    spare_.pop_back();
    heap_.push_back(&run);
    std::ranges::push_heap(heap_, later);
  }

  const std::vector<BlockInfo>& blocks_;
  const std::function<void(const BlockInfo&, model::EventBatch&)>& load_;
  std::vector<std::size_t> by_start_;
  std::size_t next_block_ = 0;
  std::vector<std::unique_ptr<Run>> runs_;
  std::vector<Run*> spare_;
  std::vector<Run*> heap_;
};

}  // namespace

MergeStatistics merge_blocks(const std::vector<BlockInfo>& blocks,
                             const std::function<void(const BlockInfo&, model::EventBatch&)>& load,
                             const std::function<bool(const model::EventBatch&)>& consume) {
  Merger merger(blocks, load);
  model::EventBatch batch;
  while (merger.advance()) {
    merger.take(batch, kBatchEvents);
    if (batch.size() < kBatchEvents) continue;
    if (!consume(batch)) return {.most_open_blocks = merger.most_open()};
    batch.clear();
  }
  if (!batch.empty()) consume(batch);
  return {.most_open_blocks = merger.most_open()};
}

}  // namespace sojourn::trace
