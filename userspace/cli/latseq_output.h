// --compat latseq of `journeys` and `report`: prints journeys as LatSeq's own rebuilder makes them,
// for people or as its scripts print them.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <utility>

#include "analysis/base/result.h"
#include "analysis/latseq/latseq_journeys.h"
#include "analysis/latseq/latseq_rebuilder.h"
#include "analysis/latseq/recording.h"
#include "analysis/trace/reader.h"

namespace sojourn::cli {

struct LatseqJourneys {
  latseq::Recording recording;
  latseq::Journeys all;
};

// Shows a progress line.
Result<LatseqJourneys> rebuild_as_latseq(trace::Reader& reader, const latseq::Ends& ends);

struct LatseqJourneyOptions {
  latseq::Ends ends;
  std::string direction;    // "D", "U"; empty: both
  std::uint64_t limit = 0;  // 0: all
  std::uint64_t worst = 0;  // the number of slowest ones to print; 0: all, in their order
  bool json = false;
};

Result<void> print_latseq_journeys(trace::Reader& reader, const LatseqJourneyOptions& options);
Result<void> print_latseq_report(trace::Reader& reader, const latseq::Ends& ends, bool json);

}  // namespace sojourn::cli
