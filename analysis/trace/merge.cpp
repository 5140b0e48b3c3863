#include "analysis/trace/merge.h"

#include <algorithm>
#include <cstdint>
#include <memory>
#include <numeric>
#include <tuple>
#include <utility>
#include <vector>

namespace sojourn::trace {

namespace {

constexpr std::size_t kBatchEvents = 4096;

// Some 3 GB. An honest file has one open block a stream, or a few.
constexpr std::size_t kMaxOpenEvents = std::size_t{1} << 25;

// A block's events in time order.
struct Run {
  model::EventBatch events;
  std::size_t next = 0;
  std::uint32_t stream = 0;
  std::size_t block = 0;  // position in the file, which is the stream's order

  bool done() const { return next == events.size(); }
  std::uint64_t ts_ns() const { return events.ts_ns()[next]; }
};

model::EventBatch sorted_by_time(model::EventBatch events) {
  const auto ts_ns = events.ts_ns();
  if (std::ranges::is_sorted(ts_ns)) return events;
  std::vector<std::uint32_t> order(events.size());
  std::iota(order.begin(), order.end(), 0u);
  std::ranges::sort(order, {}, [&](std::uint32_t row) { return std::pair(ts_ns[row], row); });
  model::EventBatch sorted;
  for (const std::uint32_t row : order) sorted.append(events[row]);
  return sorted;
}

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
    std::ranges::sort(by_start_, {},
                      [&](std::size_t at) { return std::pair(blocks[at].min_ts_ns, at); });
  }

  // Opens every block that may hold the earliest event. False: there are no more events.
  Result<bool> advance() {
    while (next_block_ < by_start_.size() &&
           (heap_.empty() || blocks_[by_start_[next_block_]].min_ts_ns <= heap_.front()->ts_ns()))
      SJ_CHECK(open(by_start_[next_block_++]));
    return !heap_.empty();
  }

  // Takes events off the earliest run for as long as it stays the earliest, up to `most` in all.
  void take(model::EventBatch& into, std::size_t most) {
    std::ranges::pop_heap(heap_, later);
    Run& run = *heap_.back();
    const bool alone = heap_.size() == 1;
    const auto rival = alone ? key(run) : key(*heap_.front());
    const std::uint64_t horizon =
        next_block_ < by_start_.size() ? blocks_[by_start_[next_block_]].min_ts_ns : UINT64_MAX;
    const std::size_t first = run.next;
    const std::size_t room = most - into.size();
    do {
      ++run.next;
    } while (!run.done() && run.next - first < room && run.ts_ns() < horizon &&
             (alone || key(run) < rival));
    into.append(run.events, first, run.next - first);
    if (!run.done()) {
      std::ranges::push_heap(heap_, later);
      return;
    }
    heap_.pop_back();
    spare_.push_back(&run);
    open_events_ -= run.events.size();
  }

  std::size_t most_open() const { return runs_.size(); }

 private:
  Result<void> open(std::size_t block) {
    if (open_events_ + blocks_[block].events > kMaxOpenEvents)
      return fail("{} blocks overlap in time, more than can be merged", heap_.size());
    if (spare_.empty()) spare_.push_back(runs_.emplace_back(std::make_unique<Run>()).get());
    Run& run = *spare_.back();
    run.events.clear();
    load_(blocks_[block], run.events);
    if (run.events.empty()) return {};
    run.events = sorted_by_time(std::move(run.events));
    run.next = 0;
    run.stream = blocks_[block].stream;
    run.block = block;
    open_events_ += run.events.size();
    spare_.pop_back();
    heap_.push_back(&run);
    std::ranges::push_heap(heap_, later);
    return {};
  }

  const std::vector<BlockInfo>& blocks_;
  const std::function<void(const BlockInfo&, model::EventBatch&)>& load_;
  std::vector<std::size_t> by_start_;
  std::size_t next_block_ = 0;
  std::vector<std::unique_ptr<Run>> runs_;
  std::vector<Run*> spare_;
  std::vector<Run*> heap_;
  std::size_t open_events_ = 0;
};

}  // namespace

Result<MergeStatistics> merge_blocks(
    const std::vector<BlockInfo>& blocks,
    const std::function<void(const BlockInfo&, model::EventBatch&)>& load,
    const std::function<bool(model::EventBatch&)>& consume) {
  Merger merger(blocks, load);
  model::EventBatch batch;
  while (true) {
    SJ_TRY(more, merger.advance());
    if (!more) break;
    merger.take(batch, kBatchEvents);
    if (batch.size() < kBatchEvents) continue;
    if (!consume(batch)) return MergeStatistics{.most_open_blocks = merger.most_open()};
    batch.clear();
  }
  if (!batch.empty()) consume(batch);
  return MergeStatistics{.most_open_blocks = merger.most_open()};
}

}  // namespace sojourn::trace
