// Reads the counters of many queues, again and again. Reading an idle queue takes two loads: its
// counters only rise, so equal counters were unchanged all the time. Only a queue that moved is
// stamped, read with care, and becomes a row. Rows are coalesced and in the order of time. The
// slots belong to the target, which writes them at any moment. One thread owns a QueuePass.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "analysis/model/event.h"
#include "analysis/model/queue_info.h"

struct sj_queue;

namespace sojourn::capture {

class QueuePass {
 public:
  // Adaptive: a queue that rests is looked at every 2nd, 4th, ... 16th tick, until it moves. Rows
  // are stamped before the close, which another thread may set while it is still ahead.
  QueuePass(bool adaptive, const std::atomic<std::uint64_t>& close_ns)
      : adaptive_(adaptive), close_ns_(&close_ns) {}

  static constexpr std::uint32_t kMaxRest = 16;  // ticks

  // Sets the stream and the point of the rows.
  void record_as(std::uint32_t stream, model::PointId point);

  // `recorded_as`: the queue's id in the trace.
  void add(const sj_queue& slot, std::uint64_t id, std::uint64_t recorded_as);
  // Removes a queue, after reading it once more if its counters are still there.
  void remove(const sj_queue& slot);

  std::size_t queues() const { return watched_.size(); }

  // Reads the queues that are due, `ticks` after the last call. Returns after how many ticks the
  // next one is due, at least 1.
  std::uint32_t look(std::uint32_t ticks);
  // Makes a row of every queue, including idle ones.
  void look_at_all();

  // The rows since the last take(); the batch that is passed in is filled next.
  std::size_t rows() const { return rows_.ts_ns.size(); }
  model::EventColumns take_rows(model::EventColumns empty);
  std::uint64_t recorded() const { return next_seq_; }

  // True once after a slot was found to be another queue's: the queues should be scanned.
  bool found_reused_slot();

  std::uint64_t looks() const;
  std::vector<model::QueueLooks> looks_by_queue() const;

 private:
  // Members that every look needs come first.
  struct Watched {
    const sj_queue* slot = nullptr;
    std::uint64_t in = 0;  // as in its newest row
    std::uint64_t out = 0;
    std::uint64_t seen_ns = 0;      // when the counters were last seen to be these
    std::uint32_t due = 0;          // ticks from the last look on
    std::uint32_t rest = 1;         // ticks from one look to the next
    std::uint64_t same = 0;         // looks since the newest row
    std::uint64_t id = 0;           // in its slot
    std::uint64_t recorded_as = 0;  // in the trace
    std::uint64_t looks = 0;        // up to the newest row
    std::uint64_t unsettled = 0;
    bool has_row = false;
  };

  void take(std::span<const std::uint32_t> which);
  void record(Watched& queue, model::QueueSample sample, std::uint64_t from_ns,
              std::uint64_t to_ns);

  bool adaptive_;
  std::uint32_t stream_ = 0;
  model::PointId point_ = 0;
  const std::atomic<std::uint64_t>* close_ns_;
  std::vector<Watched> watched_;
  std::vector<std::uint32_t> moved_;  // in the present look
  std::vector<model::QueueLooks> ended_;
  model::EventColumns rows_;
  std::uint64_t next_seq_ = 0;
  bool met_stranger_ = false;
};

}  // namespace sojourn::capture
