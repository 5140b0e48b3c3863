#include "userspace/capture/output/sink.h"

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <span>
#include <utility>

#include "analysis/trace/column.h"
#include "analysis/trace/format.h"

namespace sojourn::capture {

namespace {

// A million events, some 80 MB: the disk may fall behind so far before rings have to hold the rest.
constexpr std::size_t kMaxWaiting = 64;

}  // namespace

Sink::Sink(std::unique_ptr<ItemStore> store, const FileOwner& owner, Look look)
    : look_(std::move(look)),
      store_(std::move(store)),
      thread_([this](Work& work) { return do_work(work); },
              [this, &owner] {
                auto became = become_writer(owner);
                if (!became) error_ = std::move(became).error();
                return became.has_value();
              }) {}

void Sink::push(Item item) {
  add(std::move(item));
}

void Sink::run_in_order(Job job) {
  add(std::move(job));
}

void Sink::add(Work work) {
  // Counted in the caller's thread and before the lock is taken, so that the sink's thread goes on.
  const std::vector<std::uint64_t> counts = count(work);
  bool gives_up = false;
  {
    const std::scoped_lock lock(mutex_);
    if (error_ && !has_tap_) return;
    const std::size_t counted = std::min(counts.size(), by_point_.size());
    for (std::size_t point = 0; point < counted; ++point) by_point_[point] += counts[point];
    gives_up = behind_ == Behind::kGiveUpOldest;
  }
  thread_.add(std::move(work));
  if (gives_up) thread_.with_waiting([this](auto& waiting) { give_up_oldest(waiting); });
}

model::EventBatch* Sink::batch_of(Work& work) {
  Item* const item = std::get_if<Item>(&work);
  return item != nullptr ? std::get_if<model::EventBatch>(item) : nullptr;
}

std::vector<std::uint64_t> Sink::count(Work& work) {
  std::vector<std::uint64_t> counts;
  const auto* const batch = batch_of(work);
  if (batch == nullptr || batch->empty()) return counts;
  const auto points = batch->point();
  counts.resize(std::size_t{std::ranges::max(points)} + 1);
  // Many batches have one point only. If its rows were counted one by one, each addition would wait
  // for the last.
  if (trace::is_constant(points))
    counts.back() = points.size();
  else
    for (const model::PointId point : points) ++counts[point];
  return counts;
}

// Gives up events only: other items that wait, such as descriptions of streams, must be in the
// file.
void Sink::give_up_oldest(std::deque<Work>& waiting) {
  const auto is_batch = [](Work& work) { return batch_of(work) != nullptr; };
  if (waiting.size() <= kMaxWaiting ||
      std::ranges::count_if(waiting, is_batch) <= std::ptrdiff_t{kMaxWaiting})
    return;
  const auto oldest = std::ranges::find_if(waiting, is_batch);
  model::EventBatch& batch = *batch_of(*oldest);
  const std::scoped_lock lock(mutex_);
  for (std::size_t row = 0; row < batch.size(); ++row) {
    const model::PointId point = batch.point()[row];
    ++given_up_[{batch.stream()[row], point}];
    if (point < by_point_.size() && by_point_[point] > 0) --by_point_[point];
  }
  keep_for_reuse(batch);
  waiting.erase(oldest);
}

void Sink::keep_for_reuse(model::EventBatch& batch) {
  batch.clear();
  spare_.push_back(std::move(batch));
}

void Sink::when_behind(Behind how) {
  const std::scoped_lock lock(mutex_);
  behind_ = how;
}

void Sink::add_given_up(model::Ledger& ledger) const {
  const std::scoped_lock lock(mutex_);
  for (const auto& [where, count] : given_up_)
    ledger.push_back({.stream = where.first,
                      .point = where.second,
                      .cause = model::LossCause::kWriterBehind,
                      .count = count});
}

void Sink::count_points(std::size_t points) {
  const std::scoped_lock lock(mutex_);
  by_point_.resize(points);
}

std::vector<std::uint64_t> Sink::events_by_point() const {
  const std::scoped_lock lock(mutex_);
  return by_point_;
}

bool Sink::has_room() const {
  {
    const std::scoped_lock lock(mutex_);
    if (behind_ == Behind::kGiveUpOldest) return true;
  }
  return thread_.with_waiting([](const auto& waiting) { return waiting.size() < kMaxWaiting; });
}

bool Sink::failed() const {
  const std::scoped_lock lock(mutex_);
  return error_.has_value();
}

model::EventBatch Sink::empty_batch() {
  const std::scoped_lock lock(mutex_);
  if (spare_.empty()) return {};
  model::EventBatch batch = std::move(spare_.back());
  spare_.pop_back();
  return batch;
}

std::uint64_t Sink::bytes() const {
  const std::scoped_lock lock(mutex_);
  return bytes_;
}

// Runs on the sink's thread: only that has the owner's rights in the file's directory.
void Sink::abandon() {
  run_in_order([](std::unique_ptr<ItemStore>& store) { store->abandon(); });
  thread_.end();
  if (error_ && !has_tap_) store_->abandon();  // the job was not run
}

Result<void> Sink::finish() {
  Result<void> finished;
  run_in_order([this, &finished](std::unique_ptr<ItemStore>& store) {
    if (!failed()) finished = store->finish();
    if (tap_ != nullptr) tap_->finish();
  });
  thread_.end();
  if (error_) return std::unexpected(*error_);
  return finished;
}

bool Sink::do_work(Work& work) {
  Result<void> done = store(work);
  const std::uint64_t bytes = store_->bytes();
  const std::scoped_lock lock(mutex_);
  bytes_ = bytes;
  if (model::EventBatch* const batch = batch_of(work)) keep_for_reuse(*batch);
  if (!done && !error_) error_ = std::move(done).error();
  return !error_ || has_tap_;
}

Result<void> Sink::store(Work& work) {
  if (auto* job = std::get_if<Job>(&work)) {
    (*job)(store_);
    return {};
  }
  const Item& item = std::get<Item>(work);
  if (look_) look_(item, *store_);
  return tap_ == nullptr ? store_->take(item) : store_tapped(item);
}

void Sink::tap(BlockTap& tap, model::Schema schema, Stored stored) {
  run_in_order(
      [this, &tap, schema = std::move(schema), stored](std::unique_ptr<ItemStore>&) mutable {
        tap_ = &tap;
        schema_ = std::move(schema);
        stored_ = stored;
        const std::scoped_lock lock(mutex_);
        has_tap_ = true;
      });
}

// Keeps the first error. Later items go to the tap alone.
void Sink::note(Result<void> done) {
  const std::scoped_lock lock(mutex_);
  if (!done && !error_) error_ = std::move(done).error();
}

Result<void> Sink::store_tapped(const Item& item) {
  if (const auto* const batch = std::get_if<model::EventBatch>(&item))
    return packer_.pack(*batch, schema_, [this](std::span<const std::uint8_t> block) {
      store_tapped_block(block);
      return Result<void>{};
    });
  if (const auto* const schema = std::get_if<model::Schema>(&item)) schema_ = *schema;
  tap_->take(item);
  if (failed()) return {};
  const auto* const ledger = std::get_if<model::Ledger>(&item);
  if (ledger == nullptr || streamed_.empty()) {
    note(store_->take(item));
    return {};
  }
  model::Ledger whole = *ledger;
  for (const auto& [stream, count] : streamed_)
    whole.push_back({.stream = stream,
                     .point = model::kNoPoint,
                     .cause = model::LossCause::kStreamed,
                     .count = count});
  note(store_->take(whole));
  return {};
}

void Sink::store_tapped_block(std::span<const std::uint8_t> block) {
  const bool is_read = tap_->take_block(block);
  if (failed()) return;
  if (!is_read || stored_ == Stored::kAll) return note(store_->take_block(block));
  trace::BlockHeader header;
  std::memcpy(&header, block.data(), sizeof(header));
  streamed_[header.stream] += header.events;
}

}  // namespace sojourn::capture
