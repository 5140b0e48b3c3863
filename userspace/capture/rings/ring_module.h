// A collector's session with one arena: takes the rings over, switches the flags of the chosen
// points, empties the rings, counts their losses, and leaves. Events go to a RingCollector. One
// thread owns a RingModule; destroying it without leave() looks to the target as if the collector
// had died: it notices by the heartbeat.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include <sys/types.h>

#include "analysis/model/capture_info.h"
#include "userspace/capture/records/counter_corrector.h"
#include "userspace/capture/records/record_reader.h"
#include "userspace/capture/records/ring_clock.h"
#include "userspace/capture/records/under_way.h"
#include "userspace/capture/rings/mapped_arena.h"
#include "userspace/capture/rings/thread_cpu.h"
#include "userspace/capture/rings/thread_position.h"

namespace sojourn::capture {

// The data that all arenas of one capture share.
struct RingShared {
  RingSites sites;  // of all modules
  RingGate gate;
  const RingClock* clock = nullptr;
  // Corrects stamps to the counter of the clock's CPU; null: the offsets are not known.
  const CounterCorrector* corrector = nullptr;
  // Returns whether rings of this process are recorded, by its pid in the target's namespace. Other
  // rings belong to forked children.
  std::function<bool(std::uint32_t pid)> is_recorded;
  std::uint64_t ring_bytes = 0;  // 0: the target's size
  std::uint64_t memory_ceiling = 0;
  // The id of a new stream; `owner` is pid << 32 | tid in the target's namespace, 0: no thread.
  std::function<std::uint32_t(std::uint64_t owner)> new_stream;
  std::function<std::uint32_t(std::uint64_t owner)> host_tid;
  // Takes a stream's events; the columns are empty afterwards.
  std::function<void(model::EventColumns&)> hand_over;
  // Returns whether the owner (pid << 32 | tid) of a ring may still write.
  std::function<bool(std::uint64_t owner)> is_alive;
  std::function<pid_t(std::uint64_t owner)> host_pid;  // its process; 0: not known
  // Looks up a ring owner's CPU. Called only if the CPUs' counters disagree.
  std::function<std::optional<CpuLook>(std::uint64_t owner)> look_at_cpu;
  // Returns a look at the owner from before its first hit.
  std::function<CpuLook(std::uint64_t owner)> first_look;
  // The position of a ring's owner, if it may be in the middle of a hit.
  std::function<std::optional<ThreadPosition>(std::uint64_t owner)> thread_position_of;
};

// Figures about the rings of a capture, for advice to the user.
struct RingAdvice {
  std::uint64_t ring_bytes = 0;         // of the fullest ring
  std::uint64_t max_ring_bytes = 0;     // for which the target has room
  std::uint64_t safe_ring_bytes = 0;    // for the highest rate and the longest time between looks
  std::uint64_t longest_unseen_ns = 0;  // between two looks
  std::uint64_t rings = 0;              // at once, at most, of a module's threads
  std::uint64_t memory_ceiling = 0;     // for all of these together
  std::uint64_t most_filled = 0;        // bytes that waited in the fullest ring
  std::uint64_t foreign_events = 0;     // of forked children, not recorded
  std::uint64_t damaged = 0;            // spans of rings that are not valid
  std::uint64_t cut = 0;                // arenas that somebody made shorter
  std::uint64_t under_way = 0;          // hits that were not whole when the capture ended
  std::uint64_t lost_of_unknown_points = 0;
  std::uint64_t silences = 0;         // times that the target had taken this process for dead
  std::vector<std::string> left_out;  // rings that came later and could not be read, and why
};

// From `from` to `until` (stamps) the target may have had its flags off: it took the collector for
// dead, which had not polled for so long.
struct RingSilence {
  std::uint64_t from = 0;
  std::uint64_t until = 0;
};

// A hit that has taken its place in a ring, at `position`, and is not whole.
struct UnfinishedHit {
  std::uint64_t slot = 0;
  std::int64_t position = 0;
};

// A ring's owner that may have a stamp, and no place yet, and its position.
struct UnsureOwner {
  std::uint64_t slot = 0;
  std::int64_t position = 0;
  ThreadPosition thread_position;
};

class RingModule {
 public:
  RingModule(Arena arena, RingShared& shared) : arena_(std::move(arena)), shared_(&shared) {}

  const Arena& arena() const { return arena_; }

  // Sets which flags to use.
  void choose(std::vector<std::size_t> flags) { chosen_ = std::move(flags); }

  // Becomes the collector. Records in an arena that was armed by its environment are kept.
  void enter();
  void arm();
  void disarm();
  void switch_flags(std::span<const std::size_t> flags, bool on);
  void set_marks(std::uint64_t open_stamp, std::uint64_t close_stamp);

  // Called shortly before the open mark: drops records since the flags were set, and sets flags
  // again that the target cleared because it took this collector for dead meanwhile.
  void start_over();
  const std::vector<RingSilence>& silences() const { return silences_; }

  // Returns whether it recorded from its beginning on and counted its losses: no hit is missing.
  bool has_all() const { return keeps_ && !was_flight_; }

  // Takes records, at most a batch of each ring; without `take` it only looks. True: there are
  // more.
  bool drain(bool take);
  void mark();  // notes the places of its rings' cursors
  bool is_past_mark() const;
  void flush();           // hands over batches that are not full
  void recognise();       // is_recorded() has changed
  void free_abandoned();  // frees empty rings whose thread is gone
  void leave();
  // Called after the last record was taken: later hits that began between the marks are lost.
  void close_books();

  // Returns the unfinished hits of the process's rings, read from its own memory; nothing if that
  // may not be read. `owner_pid` is in its own namespace, `pid` in ours.
  std::optional<std::vector<UnfinishedHit>> unfinished(std::uint32_t owner_pid, pid_t pid) const;
  bool is_whole(const UnfinishedHit& hit) const;

  // Returns the owners that may be in a hit without a place, just after the close mark. Only owners
  // that have not moved since then can have a stamp from before it.
  std::vector<UnsureOwner> unsure_owners();
  bool has_moved(const UnsureOwner& owner) const;

  // Adds hits that are under way now, and began between the open mark and `until`.
  void add_under_way(std::uint64_t until, model::Ledger& ledger);

  // The fill level of its fullest ring, as a share of its capacity, for pacing.
  double fill() const { return fill_; }

  void add_losses(model::Ledger& ledger) const;
  void add_hits(std::vector<std::uint64_t>& hits) const;
  void add_advice(RingAdvice& advice) const;
  std::uint64_t events() const { return events_; }

  // The largest error of its events' stamps that is due to the CPUs' counters, and the number of
  // events whose CPU is not known.
  std::uint64_t counters_error_ns() const { return counters_error_ns_; }
  std::uint64_t events_of_unknown_cpu() const { return events_of_unknown_cpu_; }

  // earliest_claim() is the stamp of the first event that may be from before the session, or 0.
  // From whole_from() on no event is missing: earlier records of a flight recorder are overwritten.
  std::uint64_t earliest_claim() const { return earliest_claim_; }
  std::uint64_t whole_from() const { return whole_from_; }

 private:
  static constexpr std::uint32_t kNoStream = UINT32_MAX;
  using SeenLosses = std::unordered_map<std::uint32_t, std::uint64_t>;             // by record id
  using Lost = std::map<std::pair<std::uint32_t, model::PointId>, std::uint64_t>;  // stream, point

  // One thread's use of a ring.
  struct Claim {
    std::uint64_t owner = 0;
    std::uint64_t stamp = 0;
    bool operator==(const Claim&) const = default;
  };

  struct Slot {
    bool is_read = false;
    bool is_retired = false;  // to be emptied once more, as its owner takes another
    bool is_foreign = false;  // a forked child's
    bool is_unsound = false;
    Claim claim;
    Claim freed;  // the claim that it was freed from
    GapMark gaps_at_free;
    RecordReader reader;
    std::int64_t mark = 0;  // a position
    RingStream stream;
    model::EventColumns pending;
    // The last three looks at the owner's CPU, the newest at the end; and one that is older than
    // the first unread record.
    std::array<std::optional<CpuLook>, 3> looks;
    CpuLook look_before;
    std::uint64_t last_known = 0;  // the last corrected stamp whose CPU was known
    std::uint64_t lost_seen = 0;
    SeenLosses losses;
    std::uint32_t losses_elsewhere = 0;  // seen, of sites that are not in the ring's table
  };

  std::uint64_t now_ticks() const {
    return shared_->corrector == nullptr ? read_cycle_counter() : shared_->corrector->now();
  }
  bool is_disarmed() const;
  void look_for_silence(std::uint64_t now, std::uint64_t unseen);
  bool drain_slot(std::uint64_t index, bool take);
  bool adopt(std::uint64_t index, const Claim& claim);
  std::uint64_t first_stamp(std::uint64_t index, std::int64_t tail, std::int64_t cursor) const;
  void begin_stream(Slot& slot, const Claim& claim);
  void number_stream(Slot& slot);
  CounterCorrector::Correction correct(Slot& slot);
  void end_stream(Slot& slot);
  void count_losses(Slot& slot, const sj_ring& ring);
  void count_table(std::span<const sj_ring_loss> table, SeenLosses& seen, std::uint32_t stream,
                   model::LossCause cause);
  void note_seen(std::span<const sj_ring_loss> table, SeenLosses& seen);
  void count_elsewhere(std::uint32_t count, std::uint32_t& seen, std::uint32_t stream,
                       model::LossCause cause);
  void count_refused();
  void note_unreadable(std::uint32_t stream, std::uint64_t spans);
  void count_under_way(std::uint64_t index);
  std::vector<HitUnderWay> under_way(std::uint64_t index, std::uint64_t until) const;
  HitCode hit_of_stopped_owner(std::uint64_t index, const ThreadPosition& position) const;
  std::map<std::uint64_t, ThreadPosition> stopped_owners() const;
  void free_slot(std::uint64_t index);

  Arena arena_;
  RingShared* shared_;
  std::vector<std::size_t> chosen_;
  std::uint32_t session_ = 0;
  bool keeps_ = false;       // armed by its environment: its records are kept
  bool was_flight_ = false;  // it holds the newest records only
  std::uint64_t earliest_claim_ = 0;
  std::uint64_t whole_from_ = 0;
  std::vector<Slot> slots_;
  SeenLosses refused_;
  std::uint32_t refused_elsewhere_ = 0;
  std::uint32_t refused_stream_ = kNoStream;
  Lost lost_ring_full_;
  Lost lost_no_ring_;
  Lost lost_under_way_;
  Lost lost_target_gone_;  // a thread died in the middle of them
  Lost lost_unreadable_;
  bool has_closed_books_ = false;
  // Owners that were stopped at the marks, by slot.
  std::map<std::uint64_t, ThreadPosition> stopped_at_open_;
  std::map<std::uint64_t, ThreadPosition> stopped_at_close_;
  std::map<std::uint32_t, std::uint64_t> kept_;  // events by stream
  std::uint64_t events_ = 0;
  std::uint64_t counters_error_ns_ = 0;
  std::uint64_t events_of_unknown_cpu_ = 0;
  double fill_ = 0;
  std::uint64_t waiting_most_ = 0;  // in any ring at the last look
  RingAdvice advice_;
  std::uint64_t last_look_ = 0;       // ticks
  std::uint64_t longest_unseen_ = 0;  // ticks between two looks
  std::uint64_t least_rate_span_ = 0;
  bool armed_ = false;
  std::set<std::size_t> off_;  // flags that are switched off by this capture
  std::uint64_t silent_from_ = 0;
  std::uint64_t watched_until_ = 0;
  std::vector<RingSilence> silences_;
  double max_bytes_per_tick_ = 0;  // the highest rate of writing of any ring
};

}  // namespace sojourn::capture
