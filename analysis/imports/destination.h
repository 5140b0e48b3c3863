// The trace that recordings of other tracers become, each of their files one stream: a trace of its
// own, in the recordings' time; or, beside what sojourn itself recorded, a copy of that trace with
// these streams added, in its time. The writer must outlive it; one thread owns it all.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "analysis/base/result.h"
#include "analysis/imports/import_summary.h"
#include "analysis/model/capture_info.h"
#include "analysis/model/context_info.h"
#include "analysis/model/event.h"
#include "analysis/model/schema.h"
#include "analysis/model/wall_clock.h"
#include "analysis/trace/reader.h"
#include "analysis/trace/writer.h"

namespace sojourn::imports {

// The clock of the recordings' times.
enum class Clock : std::uint8_t {
  kWall,       // nanoseconds since 1970
  kMonotonic,  // CLOCK_MONOTONIC of the machine, which a trace's own times are
};

class Destination {
 public:
  // Makes a new trace, whose target has this name.
  static Result<Destination> alone(trace::Writer& writer, std::string name,
                                   Clock clock = Clock::kWall);
  // Writes everything of `recorded` except its capture block, to which finish() adds.
  static Result<Destination> beside(trace::Reader& recorded, trace::Writer& writer,
                                    const Progress& progress, Clock clock = Clock::kWall);

  // Sets the zero of the monotonic clock as time since 1970, if a recording contains it. Beside a
  // trace it must equal that trace's zero, but for a second by which clocks may have been set.
  // Otherwise the two are not of one machine since its start.
  Result<void> place_zero(std::uint64_t unix_ns, const std::string& path);

  // Begins the stream of the next file.
  Result<void> begin(ImportedFile& file);

  // Writes events of the file that was begun last, in order, with times of the clock. `points` has
  // their points; it may only have grown at its end. Fails if there are more points than a trace
  // can hold.
  Result<void> write(model::EventBatch events, const model::Schema& points);

  // Names the threads by the numbers in the events.
  Result<void> name_threads(std::vector<model::ContextName> names);

  // Notes the error of the events' times; the largest of all files counts.
  void note_stamp_error(std::uint64_t ns);

  // Ends a file. Fails if it has events, and none of them is within the recorded time.
  Result<void> end();

  // After the last file.
  Result<void> finish(std::string_view tracer);

 private:
  Destination(trace::Writer& writer, Clock clock) : writer_(&writer), clock_(clock) {}

  // Returns the time in the trace, or nothing outside of the recorded span.
  std::optional<std::uint64_t> time_of(std::uint64_t time_ns) const;
  std::string outside_text() const;
  model::EventBatch in_time(const model::EventBatch& events);
  Result<void> write_schema(const model::Schema& points);

  trace::Writer* writer_;
  Clock clock_;
  std::optional<std::uint64_t> zero_unix_ns_;  // of a monotonic clock
  model::Schema schema_;
  std::size_t own_points_ = 0;  // of the recorded trace, before those of the imported files
  std::uint32_t next_stream_ = 0;
  model::Capture capture_;
  ImportedFile* file_ = nullptr;
  std::vector<std::uint64_t> hits_;  // of each imported stream
  std::uint64_t first_ns_ = UINT64_MAX;
  std::uint64_t last_ns_ = 0;

  std::string recorded_;  // the path of the recorded trace; empty: there is none
  model::WallClock wall_{{}};
  std::uint64_t open_ns_ = 0;
  std::uint64_t close_ns_ = UINT64_MAX;
};

}  // namespace sojourn::imports
