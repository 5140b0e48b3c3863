// The trace's record of the capture as a whole (model::Capture): the marks, the cost of a hit of
// each point, and the spans in which points were off or not yet armed. It is written when the gate
// opens, again while it grows, for readers of a capture that is killed, and at the end. The
// capture's thread owns it; other parts change it only through the functions below.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "analysis/model/capture_info.h"
#include "analysis/model/schema.h"
#include "userspace/capture/output/event_engine.h"
#include "userspace/capture/output/sink.h"

namespace sojourn::capture {

class CaptureRecord {
 public:
  // `dumps_have_all`: a flight recorder's dumps take the whole record, so it is not written while
  // it grows.
  CaptureRecord(std::string tracer, bool dumps_have_all);

  const model::Capture& about() const { return about_; }

  // ---- marks ----
  bool is_open() const { return about_.open_ns != 0; }
  std::uint64_t open_ns() const { return about_.open_ns; }
  std::uint64_t end_ns() const { return end_ns_; }  // by the duration; UINT64_MAX: there is none
  void open(std::uint64_t open_ns, std::optional<std::chrono::nanoseconds> duration);
  // The file begins with a held history: its first event is older than the open mark was.
  void begin_with(const model::Capture& held);
  void close(std::uint64_t close_ns) { about_.close_ns = close_ns; }

  // ---- the end ----
  bool has_ended() const { return !about_.ended_by.empty(); }
  void end(std::string why) { about_.ended_by = std::move(why); }
  // The sums that are only known at the end.
  struct Totals {
    std::vector<std::uint64_t> stream_hits;
    std::uint64_t stamp_error_ns = 0;
    std::uint64_t events_of_unknown_cpu = 0;
    std::vector<model::ShedSpan> silences;
    std::uint64_t tracer_cpu_ns = 0;
    std::uint64_t tracer_rss_bytes = 0;
  };
  void finish(Totals totals);
  void note_target_cpu(std::uint64_t ns) { about_.target_cpu_ns = ns; }
  // Notes how much later than it wanted the capture's thread got its CPU.
  void note_starved(std::uint64_t ns);

  // ---- the recording of hits, and its cost ----
  void note_engine(const EventEngine& engine, bool any_rings);
  void note_counters(std::vector<model::CounterOffset> offsets, bool are_corrected);
  void note_stamp_delay(std::uint64_t ns) { about_.stamp_delay_ns = ns; }
  void note_points(std::size_t points);  // sets their number: each has a cost, 0 if that is unknown
  void note_cost(std::size_t point, std::uint64_t ps, double spread);
  std::uint64_t hit_cost_ps(std::size_t point) const;

  // ---- when points were not recorded ----
  // begin_shedding(): the points are off from now on; end_shedding(): they are on again.
  void begin_shedding(std::span<const model::PointId> points);
  void end_shedding(std::span<const model::PointId> points);
  std::vector<model::PointId> points_off() const;
  // After close(): these points were off all the time, as they had been switched off.
  void note_off(std::span<const model::PointId> points);
  // Spans are limited: a program that forks all day must not fill the file with those of its
  // children.
  void note_unarmed(const model::UnarmedSpan& span);
  // Points of maps that some process has no place for; those of the schema another one has.
  void note_unplaced(std::span<const std::string> points, const model::Schema& schema);

  // Writes the lists for readers of a capture that is killed; the longer they are, the more rarely.
  void write_shed(Sink& sink);
  void write_unarmed(Sink& sink);

 private:
  model::Capture about_;
  bool dumps_have_all_;
  std::uint64_t end_ns_ = UINT64_MAX;
  std::size_t shed_written_ = 0;
  std::size_t unarmed_written_ = 0;
};

}  // namespace sojourn::capture
