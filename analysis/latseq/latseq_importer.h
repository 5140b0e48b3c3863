// Reads LatSeq files into a trace: one stream for each file, in order of time. Lines without an
// event are counted by reason, with the first line of each. Memory holds a window of events that
// wait to be put in order, or for the clock line that gives their time. One thread owns it all.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

#include "analysis/base/result.h"
#include "analysis/imports/byte_stream.h"
#include "analysis/imports/destination.h"
#include "analysis/imports/import_summary.h"
#include "analysis/latseq/line.h"

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

// lines = events + outside + headers + blank + clock_lines + everything skipped.
struct FileSummary : imports::ImportedFile {
  std::uint64_t lines = 0;
  std::uint64_t headers = 0;
  std::uint64_t blank = 0;
  std::uint64_t clock_lines = 0;
  std::array<Count, kSkips> skipped;  // by Skip
  Count fields_left_out;              // of events that are in the trace without them
  bool unended = false;               // the last event's line has no line end
  std::uint64_t cycle_stamps = 0;     // events that got their time from clock lines,
  std::uint64_t before_clock = 0;     // of these before the first clock line
  std::uint64_t after_clock = 0;      // and after the last

  std::uint64_t skipped_lines() const {
    std::uint64_t sum = 0;
    for (const Count& one : skipped) sum += one.count;
    return sum;
  }
};

using Summary = imports::Summary<FileSummary>;

// Fails if a file cannot be read at all or has no event. The caller finishes the trace.
Result<Summary> import_files(std::span<const std::string> paths, const imports::Open& open,
                             imports::Destination& into, const imports::Progress& progress);

}  // namespace sojourn::latseq
