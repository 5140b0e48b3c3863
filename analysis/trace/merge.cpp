#include "analysis/trace/merge.h"

#include <algorithm>
#include <cstdint>
#include <memory>
#include <numeric>
#include <utility>
#include <vector>

namespace sojourn::trace {

namespace {

constexpr std::size_t kBatchEvents = 4096;

// Some 3 GB. A real file has one open block for each stream, or a few.
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

// The keys that order the runs, copied out of them.
struct Turn {
  std::uint64_t ts_ns = 0;  // of the run's next event
  std::uint32_t stream = 0;
  std::size_t block = 0;
  Run* run = nullptr;
};

// The order of a heap whose top is the earliest run.
bool later(const Turn& left, const Turn& right) {
  if (left.ts_ns != right.ts_ns) return left.ts_ns > right.ts_ns;
  return std::pair(left.stream, left.block) > std::pair(right.stream, right.block);
}

// Moves the top, which has changed, down to its place.
void sink_top(std::vector<Turn>& heap) {
  const auto moved = heap.front();
  std::size_t at = 0;
  while (true) {
    auto below = 2 * at + 1;
    if (below >= heap.size()) break;
    if (below + 1 < heap.size() && later(heap[below], heap[below + 1])) ++below;
    if (!later(moved, heap[below])) break;
    heap[at] = heap[below];
    at = below;
  }
  heap[at] = moved;
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
           (heap_.empty() || blocks_[by_start_[next_block_]].min_ts_ns <= heap_.front().ts_ns))
      SJ_CHECK(open(by_start_[next_block_++]));
    return !heap_.empty();
  }

  // Takes events off the earliest run while it stays the earliest, up to a limit.
  void take(std::size_t most) {
    auto& turn = heap_.front();
    Run& run = *turn.run;
    const auto ts_ns = run.events.ts_ns();
    const std::size_t first = run.next;
    const std::size_t end = std::min(ts_ns.size(), first + most);
    const std::uint64_t until_ns = first_of_others();
    do {
      ++run.next;
    } while (run.next < end && ts_ns[run.next] < until_ns);
    pieces_.push_back({&run.events, first, run.next - first});
    taken_ += run.next - first;
    if (!run.done()) {
      turn.ts_ns = run.ts_ns();
      sink_top(heap_);
      return;
    }
    std::ranges::pop_heap(heap_, later);
    heap_.pop_back();
    ended_ = &run;
    open_events_ -= run.events.size();
  }

  std::size_t taken() const { return taken_; }
  // After the end of a run, the taken events must be gathered first.
  bool has_ended() const { return ended_ != nullptr; }

  // Appends the taken events.
  void gather(model::EventBatch& into) {
    model::EventColumns columns = std::move(into).release();
    gather(columns.ts_ns, &model::EventBatch::ts_ns);
    gather(columns.seq, &model::EventBatch::seq);
    gather(columns.stream, &model::EventBatch::stream);
    gather(columns.tid, &model::EventBatch::tid);
    gather(columns.point, &model::EventBatch::point);
    gather_values(columns);
    into = model::EventBatch(std::move(columns));
    pieces_.clear();
    taken_ = 0;
    if (ended_ != nullptr) spare_.push_back(std::exchange(ended_, nullptr));
  }

  std::size_t max_open() const { return runs_.size(); }

 private:
  // Rows of a run.
  struct Piece {
    const model::EventBatch* events = nullptr;
    std::size_t first = 0;
    std::size_t count = 0;
  };

  // The time from which on another run, or a block that is not open yet, has the earliest event.
  std::uint64_t first_of_others() const {
    std::uint64_t until_ns =
        next_block_ < by_start_.size() ? blocks_[by_start_[next_block_]].min_ts_ns : UINT64_MAX;
    if (heap_.size() == 1) return until_ns;
    const auto& turn = heap_.front();
    const auto& rival = heap_.size() > 2 && later(heap_[1], heap_[2]) ? heap_[2] : heap_[1];
    const bool goes_first =
        std::pair(turn.stream, turn.block) < std::pair(rival.stream, rival.block);
    return std::min(until_ns,
                    goes_first && rival.ts_ns != UINT64_MAX ? rival.ts_ns + 1 : rival.ts_ns);
  }

  // If threads alternate, a piece is one event.
  template <typename Column, typename Get>
  void gather(Column& column, Get get) const {
    const auto at = column.size();
    column.resize(at + taken_);
    auto* into = column.data() + at;
    for (const Piece& piece : pieces_) {
      const auto* from = (piece.events->*get)().data() + piece.first;
      if (piece.count == 1)
        *into++ = *from;
      else
        into = std::copy_n(from, piece.count, into);
    }
  }

  void gather_values(model::EventColumns& columns) const {
    const std::size_t before = columns.first_value.size() - 1;
    columns.first_value.resize(before + taken_ + 1);
    auto* first_value = columns.first_value.data() + before;
    auto at = static_cast<std::uint32_t>(columns.values.size());
    for (const Piece& piece : pieces_) {
      const auto firsts = piece.events->first_value().subspan(piece.first, piece.count + 1);
      const auto shift = at - firsts.front();
      for (std::size_t row = 0; row < piece.count; ++row) *first_value++ = firsts[row] + shift;
      at = firsts.back() + shift;
    }
    *first_value = at;
    const auto first = columns.values.size();
    columns.values.resize(at);
    auto* into = columns.values.data() + first;
    for (const Piece& piece : pieces_) {
      const auto firsts = piece.events->first_value();
      const auto begin = firsts[piece.first];
      into = std::copy_n(piece.events->values().data() + begin,
                         firsts[piece.first + piece.count] - begin, into);
    }
  }

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
    heap_.push_back({run.ts_ns(), run.stream, run.block, &run});
    std::ranges::push_heap(heap_, later);
    return {};
  }

  const std::vector<BlockInfo>& blocks_;
  const std::function<void(const BlockInfo&, model::EventBatch&)>& load_;
  std::vector<std::size_t> by_start_;
  std::size_t next_block_ = 0;
  std::vector<std::unique_ptr<Run>> runs_;
  std::vector<Run*> spare_;
  Run* ended_ = nullptr;  // its last events may be taken and not gathered yet
  std::vector<Piece> pieces_;
  std::size_t taken_ = 0;
  std::vector<Turn> heap_;
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
    merger.take(kBatchEvents - batch.size() - merger.taken());
    const bool full = batch.size() + merger.taken() == kBatchEvents;
    if (!full && !merger.has_ended()) continue;
    merger.gather(batch);
    if (!full) continue;
    if (!consume(batch)) return MergeStatistics{.max_open_blocks = merger.max_open()};
    batch.clear();
  }
  if (!batch.empty()) consume(batch);
  return MergeStatistics{.max_open_blocks = merger.max_open()};
}

}  // namespace sojourn::trace
