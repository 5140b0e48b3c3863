// Reads the rings of one arena into a trace, with their losses: rings without a writer, or a copy.
// Each thread's use of a ring is a stream. In a flight recorder, records of threads that had the
// ring before are a stream without a thread. One thread owns it.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <sys/types.h>

#include "analysis/base/result.h"
#include "analysis/model/capture_info.h"
#include "analysis/trace/writer.h"
#include "userspace/capture/output/event_filter_stage.h"
#include "userspace/capture/post_mortem/orphaned_arenas.h"
#include "userspace/capture/records/record_reader.h"
#include "userspace/capture/records/ring_clock.h"

namespace sojourn::capture {

// Sums over the rings of a process.
struct OrphanedCounts {
  std::uint64_t events = 0;
  std::uint64_t rings = 0;          // rings that had records
  std::uint64_t flight_rings = 0;   // of them
  std::uint64_t foreign_rings = 0;  // of other processes, which share the arena
  std::uint64_t absent_rings = 0;   // not in the core file, or not whole
  std::uint64_t damaged = 0;        // spans, and rings, that are not valid
  std::uint64_t unfinished = 0;     // threads that were in the middle of a hit, as far as is known
  std::uint64_t taken_by_collectors = 0;  // arenas from which a collector had taken earlier records
  std::uint64_t overwritten_bytes = 0;    // in flight recorders
  bool knows_unfinished = true;
};

// The facts that are known besides the rings. Thread ids are those of the target's namespace.
struct OrphanedView {
  // For a process that goes on: hits from this stamp on are left out.
  std::uint64_t until_stamp = UINT64_MAX;
  // The next instruction of a stopped or ended thread; 0: not known.
  std::function<std::uint64_t(std::uint32_t)> instruction = {};
  bool has_ended = false;  // other processes in the same trace go on
  std::int32_t pid = -1;   // in our namespace; -1: the trace has this process alone
  std::function<std::uint32_t(std::uint32_t)> host_tid = {};  // empty: ids stay as they are
};

class OrphanedRings {
 public:
  OrphanedRings(pid_t owner, const RingClock& clock, trace::Writer& writer, OrphanedView view = {})
      : owner_(static_cast<std::uint32_t>(owner)),
        clock_(&clock),
        writer_(&writer),
        view_(std::move(view)) {}

  // The arenas that follow belong to another process.
  void turn_to(pid_t owner, OrphanedView view);
  // Limits the trace to the events that this filter keeps.
  void leave_out_by(EventFilterStage& filter_stage) { filter_stage_ = &filter_stage; }

  Result<void> read(const OrphanedArena& left, const RingSites& sites);

  const OrphanedCounts& counts() const { return counts_; }
  const model::Ledger& ledger() const { return ledger_; }
  const std::vector<std::uint64_t>& stream_hits() const { return stream_hits_; }
  struct Thread {
    std::string name;
    std::int32_t pid = -1;
  };
  const std::map<std::uint32_t, Thread>& threads() const { return threads_; }

  // Between complete_from_ns() and last_ns() every hit is in the trace or in the ledger.
  std::uint64_t complete_from_ns() const { return complete_from_ns_; }
  std::uint64_t last_ns() const { return last_ns_; }

 private:
  struct Source {
    const OrphanedArena& left;
    const RingSites& sites;
    bool is_fresh;  // no collector ever took anything out of it
  };
  struct Ring {
    const sj_ring& shared;
    const std::byte* data;
    std::uint64_t capacity;
    std::int64_t begin;
    std::int64_t cursor;
    bool is_flight;
    std::uint64_t claimed_stamp;
    std::uint32_t tid;
    std::uint32_t own_tid;         // in the target's namespace
    std::uint64_t private_offset;  // in the arena
  };

  std::optional<Ring> look_at(const Source& source, std::uint64_t slot);
  Result<void> read_ring(const Source& source, const Ring& ring);
  Result<RingStream> read_stream(const Source& source, const Ring& ring, std::uint32_t tid,
                                 const RingGate& gate);
  Result<void> number(RingStream& stream);
  Result<void> count_lost(const Source& source, const Ring& ring, RingStream& stream);
  bool losses_by_point_apply(const Source& source, const Ring& ring, std::uint64_t in_gaps) const;
  Result<void> count_unfinished(const Source& source, const Ring& ring, RingStream& stream);
  Result<void> count_refused(const Source& source);
  void lose(std::uint32_t stream, model::PointId point, model::LossCause cause,
            std::uint64_t count);
  std::uint64_t honest(std::uint64_t count);
  std::uint64_t count_table(std::span<const sj_ring_loss> table, const RingSites& sites,
                            std::uint32_t stream, model::LossCause cause);

  std::uint32_t owner_;
  const RingClock* clock_;
  trace::Writer* writer_;
  EventFilterStage* filter_stage_ = nullptr;
  OrphanedView view_;
  OrphanedCounts counts_;
  model::Ledger ledger_;
  std::vector<std::uint64_t> stream_hits_;
  std::map<std::uint32_t, Thread> threads_;
  std::uint64_t complete_from_ns_ = 0;
  std::uint64_t ring_first_ns_ = 0;    // in the ring that is being read; 0: it has no event
  std::uint64_t ring_last_stamp_ = 0;  // in the same ring
  std::uint64_t last_ns_ = 0;
};

}  // namespace sojourn::capture
