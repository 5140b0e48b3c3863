// Reads what X-Lap recorded of a transport protocol into a trace: tables by their xlap.yml, each
// one stream. A stamp is a point, and the time behind it a place of the stamp's name; durations are
// scalars. Cycle stamps become times. Memory: the instants at which clock and counter were read,
// and a window of events that waits to be put in order. One thread owns it all.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

#include "analysis/base/result.h"
#include "analysis/imports/byte_stream.h"
#include "analysis/imports/destination.h"
#include "analysis/imports/import_summary.h"

namespace sojourn::xlap {

struct FileSummary : imports::ImportedFile {
  std::string source;
  std::uint64_t rows = 0;
  std::uint64_t other_types = 0;         // rows of packets that are no packet type of the xlap.yml
  std::uint64_t columns_left_out = 0;    // columns that are not in the xlap.yml
  std::uint64_t durations_left_out = 0;  // between stamps of two tables
  std::uint64_t backwards = 0;           // durations below 0
  std::uint64_t cycle_stamps = 0;        // those that became times
  std::uint64_t outside_instants = 0;  // before the first or after the last instant, by the nearest
  std::uint64_t instants = 0;          // at which clock and counter were read, as used
  std::uint64_t odd_instants = 0;      // left out: the clock or the counter went back
  bool references_differ = false;      // taken for one instant although they are two stamps
  std::optional<std::uint64_t> bound_ns;  // of cycle stamps' times; unset: too few instants
  std::uint64_t checked = 0;              // clock stamps with cycles that were not used
  std::uint64_t furthest_ns = 0;          // the largest distance of one from the time of its cycles
  std::uint64_t beyond_bound = 0;
  bool is_cut = false;  // the last row had no end, and was left out
};

using Summary = imports::Summary<FileSummary>;

inline constexpr const char* kConfigName = "xlap.yml";

// Fails if the directory has no xlap.yml, if a table does not fit it, or has no event. Errors name
// the file and the line.
Result<Summary> import_directory(const std::string& path, const imports::Open& open,
                                 imports::Destination& into, const imports::Progress& progress);

}  // namespace sojourn::xlap
