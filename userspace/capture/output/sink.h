// The thread that owns the store: it encodes, compresses, and holds or writes the items that are
// pushed to it, so that a slow disk never keeps the drain from its rings. It has the rights of the
// files' owner and no others. Everything is moved through one queue, in order. The first error
// stops the writing, but not what goes to a tap; finish() returns it.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <utility>
#include <variant>
#include <vector>

#include "analysis/base/result.h"
#include "analysis/model/event.h"
#include "analysis/model/schema.h"
#include "analysis/trace/block_packer.h"
#include "userspace/base/worker_thread.h"
#include "userspace/capture/output/block_tap.h"
#include "userspace/capture/output/item_store.h"
#include "userspace/capture/rights/rights.h"

namespace sojourn::capture {

class Sink {
 public:
  using Item = capture::Item;

  // `look` sees every item before the store does, on the sink's thread.
  using Look = std::function<void(const Item&, ItemStore&)>;
  // Returns once its thread has no other rights than the owner's.
  // Without finish() all items that were pushed to a file are in NAME.partial.
  explicit Sink(std::unique_ptr<ItemStore> store, const FileOwner& owner = FileOwner::self(),
                Look look = {});

  void push(Item item);

  // Runs on the sink's thread, after everything that was pushed before, and may replace the store.
  // The caller decides whether the old one may be dropped.
  using Job = std::function<void(std::unique_ptr<ItemStore>&)>;
  void run_in_order(Job job);

  // The tap receives the store's items from now on, and must outlive the sink. The store has the
  // schema already. kUnread: events that a reader gets through the tap are not stored, and the
  // store's ledger counts them.
  enum class Stored : std::uint8_t { kAll, kUnread };
  void tap(BlockTap& tap, model::Schema schema, Stored stored = Stored::kAll);

  // The choice if batches come faster than the store takes them: the sources wait, so that their
  // rings fill, or the oldest waiting batches are dropped and counted.
  enum class Behind : std::uint8_t { kWait, kGiveUpOldest };
  void when_behind(Behind how);
  void add_given_up(model::Ledger& ledger) const;

  bool has_room() const;  // false: more than a queue's worth of batches is waiting
  bool failed() const;
  model::EventBatch
  empty_batch();                // reuses the memory of a batch that was written, if there is one
  std::uint64_t bytes() const;  // in the file so far

  // From now on events are counted by point as they are pushed.
  void count_points(std::size_t points);
  std::vector<std::uint64_t> events_by_point() const;

  // Writes the waiting items and finishes the file. Nothing may be pushed afterwards.
  Result<void> finish();

  // Removes the file of a capture that failed. Nothing may be pushed afterwards.
  void abandon();

 private:
  using Work = std::variant<Item, Job>;
  void add(Work work);
  static model::EventBatch* batch_of(Work& work);
  static std::vector<std::uint64_t> count(Work& work);
  void give_up_oldest(std::deque<Work>& waiting);
  void keep_for_reuse(model::EventBatch& batch);
  bool do_work(Work& work);
  Result<void> store(Work& work);
  Result<void> store_tapped(const Item& item);
  void store_tapped_block(std::span<const std::uint8_t> block);
  void note(Result<void> done);

  // Guards the members below, which both sides use. The queue's lock, if held as well, is taken
  // first.
  mutable std::mutex mutex_;
  std::vector<model::EventBatch> spare_;
  std::optional<Error> error_;
  std::uint64_t bytes_ = 0;
  std::vector<std::uint64_t> by_point_;  // empty: not counted
  Behind behind_ = Behind::kWait;
  bool has_tap_ = false;
  std::map<std::pair<std::uint32_t, model::PointId>, std::uint64_t> given_up_;  // by stream, point

  Look look_;
  // The members below are used by the thread alone until it has ended.
  BlockTap* tap_ = nullptr;
  trace::BlockPacker packer_;  // packs for the store and the tap
  Stored stored_ = Stored::kAll;
  std::map<std::uint32_t, std::uint64_t> streamed_;  // events that only readers got, by stream
  model::Schema schema_;
  std::unique_ptr<ItemStore> store_;
  mutable base::WorkerThread<Work> thread_;
};

}  // namespace sojourn::capture
