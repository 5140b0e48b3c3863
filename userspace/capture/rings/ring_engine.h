// The ring engine: the target's threads write their events into shared memory, without traps. It
// finds the arenas of the process, also of libraries that it loads later, and collects from all of
// them. A process and its forked children write into the same arenas, so one RingEngine records a
// family.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "userspace/capture/output/event_engine.h"
#include "userspace/capture/records/ring_clock.h"
#include "userspace/capture/rings/ring_module.h"
#include "userspace/tracee/process.h"
#include "userspace/tracee/program_points.h"

namespace sojourn::capture {

struct RingOptions {
  std::uint64_t ring_bytes = 0;      // for each thread, a power of two; 0: the target's size
  std::uint64_t memory_ceiling = 0;  // for all rings of a module; 0: the target's ceiling
  std::chrono::microseconds poll_period{1000};
  std::function<bool(const model::Point&)>
      wants;  // whether to record a point that comes later; none: all
  // Records the rings of all forked children, from their first instruction on. `meet` is called for
  // each process that was not adopted, once it has written something.
  bool follow = false;
  std::function<void(std::uint32_t pid)> meet;
  bool target_starts = false;  // the target is not running yet, and its environment will arm it
  // A reading of the clocks from before any event in the rings: then all times lie between two
  // readings, however late the rings are found.
  std::optional<CounterPair> first_clocks;
  // Returns the offsets of the CPUs' counters; empty: they are not measured.
  std::function<const CounterOffsets&()> counters;
  // The directory in which the target leaves its arenas, for this capture only. Empty: none.
  std::string directory;
};

class RingEngine final : public EventEngine {
 public:
  // For the points that have rings. Fails if none has, or if rings cannot be opened: the error says
  // which and why.
  static Result<std::unique_ptr<RingEngine>> create(const tracee::Process& process,
                                                    const tracee::Points& points,
                                                    const RingOptions& options);
  ~RingEngine() override;

  // To be connected before any other source: it may have points already that the trace has not.
  Result<void> connect(CaptureOutput& output) override;
  Result<void> arm() override;
  void open_at(std::uint64_t monotonic_ns) override;
  void close_at(std::uint64_t monotonic_ns) override;
  Result<void> settle() override;
  void mark() override;
  bool is_past_mark() const override;
  Result<bool> poll() override;
  void flush() override;
  std::chrono::microseconds poll_period() const override;
  void disarm() override;
  bool is_armed() const override;
  Result<void> add_losses(model::Ledger& ledger) const override;
  Result<void> add_hits(std::vector<std::uint64_t>& hits) const override;
  std::uint64_t events() const override;
  Result<void> switch_points(std::span<const model::PointId> points, bool on) override;
  std::size_t sites() const override;
  std::string mechanism() const override;
  std::uint64_t stamp_error_ns() const override;
  std::uint64_t earliest_ns() const override;
  // True if any file's rings have recorded from their beginning on.
  bool has_its_beginning() const override;

  void add_advice(RingAdvice& advice) const;

  // The number of events whose CPU is not known, if the CPUs' counters disagree.
  std::uint64_t events_of_unknown_cpu() const;

  // Adds hits that began before then and are not whole: they are lost to a trace that ends there.
  // After settle_so_far().
  void add_under_way(std::uint64_t until_ns, model::Ledger& ledger);

  // Looks for arenas that came since the last look, without waiting for the next one.
  void look_again();

  bool has_arena(std::uint64_t device, std::uint64_t inode) const;

  // Returns whether it collects from the file's arena.
  bool has_rings_of(const tracee::MappedFile& file) const;

  // Returns whether that arena has recorded from its beginning on, armed by the target's
  // environment. Then it has all hits, however late it was found.
  bool has_all_of(const tracee::MappedFile& file) const;
  bool has_all() const;  // true if has_all_of() is true for all files
  bool records(const tracee::Process& process) const;

  // All points so far, including those of libraries that came later.
  const tracee::Points& points() const;

  // Returns whether the process writes into arenas of this engine. Then no other engine can record
  // its rings.
  Result<bool> is_shared_with(const tracee::Process& process) const;
  // Records the rings of such a process as well, from here on; it outlives the engine.
  void adopt(const tracee::Process& process);
  // Forgets a process that has ended, once its rings were read. False: the engine needs it to the
  // end.
  bool forget(const tracee::Process& process);

  // Spans in which points may have been off because the target took this process for dead.
  std::vector<model::ShedSpan> silences() const;

 private:
  struct State;
  explicit RingEngine(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

}  // namespace sojourn::capture
