// Reads LatSeq files into a trace: one stream a file, in the order of time. What is not an event
// is counted by reason, with the first line of each. Memory: a window of events that waits to be
// put in order, or for the clock line that tells their time. One thread owns it all.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "analysis/base/result.h"
#include "analysis/latseq/line.h"
#include "analysis/trace/writer.h"

namespace sojourn::latseq {

struct Count {
  std::uint64_t count = 0;
  std::uint64_t first_line = 0;  // from 1; 0: none

  void add(std::uint64_t line, std::uint64_t more = 1) {
    if (more == 0) return;
    if (count == 0 || line < first_line) first_line = line;
    count += more;
  }
};

// lines = events + headers + blank + clock_lines + everything skipped.
struct FileSummary {
  std::string path;
  std::uint64_t lines = 0;
  std::uint64_t events = 0;
  std::uint64_t headers = 0;
  std::uint64_t blank = 0;
  std::uint64_t clock_lines = 0;
  std::array<Count, kSkips> skipped;  // by Skip
  Count fields_left_out;              // of events that are in the trace without them
  std::uint64_t cycle_stamps = 0;     // events whose time the clock lines told,
  std::uint64_t before_clock = 0;     // of these before the first clock line
  std::uint64_t after_clock = 0;      // and after the last
  std::uint64_t disordered = 0;       // events that came behind a later one and were put in order
  std::uint64_t first_ns = 0;         // since 1970
  std::uint64_t last_ns = 0;
  std::string failure;  // why reading ended before the file did; empty: it did not

  std::uint64_t skipped_lines() const {
    std::uint64_t sum = 0;
    for (const Count& one : skipped) sum += one.count;
    return sum;
  }
};

struct Summary {
  std::vector<FileSummary> files;
  std::size_t points = 0;

  std::uint64_t events() const {
    std::uint64_t sum = 0;
    for (const FileSummary& file : files) sum += file.events;
    return sum;
  }
};

using Progress = std::function<void(std::uint64_t done_bytes, std::uint64_t of_bytes)>;

// Writes schema, streams, events and what is known of the capture; the caller finishes the file. A
// trace's time is nanoseconds since 1970 here, which its clock pair says. Fails where a file cannot
// be read at all or has not one event.
Result<Summary> import_files(std::span<const std::string> paths, trace::Writer& writer,
                             const Progress& progress);

}  // namespace sojourn::latseq
