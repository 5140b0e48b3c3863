// Rings: the target's threads write their events into shared memory, and nobody traps. Finds the
// arenas of the process, also of libraries that it loads later, and collects from all of them. A
// process and its forked children write into the same arenas: one RingEngine records a family.
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
  std::uint64_t ring_bytes = 0;      // a thread, a power of two; 0: as the target has them
  std::uint64_t memory_ceiling = 0;  // of all rings of a module; 0: as the target has it
  std::chrono::microseconds poll_period{1000};
  std::function<bool(const model::Point&)> wants;  // of points that come later; none: all
  // Records the rings of all forked children, from their first instruction on. `meet` hears of each
  // whose pid is none that was adopted, once it has written something.
  bool follow = false;
  std::function<void(std::uint32_t pid)> meet;
  bool target_starts = false;  // it is not running yet, and will be armed by its environment
  // The clocks before anything happened that may be in the rings: times are then between two
  // readings, however late the rings are found.
  std::optional<CounterPair> first_clocks;
  // Where it will leave its arenas, which only this capture uses. Empty: nowhere.
  std::string directory;
};

class RingEngine final : public EventEngine {
 public:
  // For the points that have rings. Fails where none has, or rings cannot be opened: the text says
  // which and why.
  static Result<std::unique_ptr<RingEngine>> create(const tracee::Process& process,
                                                    const tracee::Points& points,
                                                    const RingOptions& options);
  ~RingEngine() override;

  // Before any other source: it may know of points already that the trace does not.
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
  bool has_its_beginning() const override;  // the rings of some file, at least

  void add_advice(RingAdvice& advice) const;

  // What began before then and is not whole: lost to whoever ends there. After settle_so_far().
  void add_under_way(std::uint64_t until_ns, model::Ledger& ledger);

  // Looks for arenas that came since the last look, without waiting for the next one.
  void look_again();

  bool has_arena(std::uint64_t device, std::uint64_t inode) const;

  // Whether it collects from the file's arena.
  bool has_rings_of(const tracee::MappedFile& file) const;

  // Whether that arena had recorded from its beginning on, by the target's environment: then all of
  // its hits are there, however late it was found.
  bool has_all_of(const tracee::MappedFile& file) const;
  bool has_all() const;  // of all files
  bool records(const tracee::Process& process) const;

  // As they are by now: libraries that came later have brought theirs.
  const tracee::Points& points() const;

  // Whether the process writes into arenas of this engine. Then nobody else can record its rings.
  Result<bool> is_shared_with(const tracee::Process& process) const;
  // Records the rings of such a process as well, from here on; it outlives the engine.
  void adopt(const tracee::Process& process);
  // No more, as it has ended and its rings were read. False: the engine needs it to the end.
  bool forget(const tracee::Process& process);

  // When points may have been off, as the target had taken this process for dead.
  std::vector<model::ShedSpan> silences() const;

 private:
  struct State;
  explicit RingEngine(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

}  // namespace sojourn::capture
