// The output of `sojourn explain`: why packets were late, as a text for people and an object for
// programs, and the line about it in `sojourn report`. docs/explain.md explains the words.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "analysis/causes/cause_totals.h"
#include "analysis/causes/explainer.h"
#include "analysis/causes/stay_floors.h"
#include "analysis/model/capture_info.h"

namespace sojourn::present {

// A recording option that would have given more evidence.
struct MissingEvidence {
  std::string what;    // "syscalls"
  std::string option;  // the option of `sojourn record` that adds it
  std::string tells;   // the evidence that it adds
  std::string reason;  // why it is missing though it was asked for; empty: it was not
};
std::vector<MissingEvidence> missing_evidence(const model::Context& context, bool has_queues);

// References outlive the printing.
struct CausesContent {
  const std::string& path;
  const model::Target& target;
  const model::Schema& schema;
  const journeys::Topology& topology;
  const causes::ContextNameTable& names;
  const causes::CauseTotals& tally;
  const causes::Explainer& found;
  causes::Deadlines deadlines;
  bool was_given = false;  // the deadline; else it is the slowest hundredth of each direction
  std::string where = {};  // the filter of packets; empty: all
  std::vector<MissingEvidence> missing = {};
  std::vector<causes::Verdict> worst = {};  // the slowest first
  std::vector<causes::StayFloors::Row> fastest =
      {};                        // places that are as fast as the machine allows
  std::size_t width = SIZE_MAX;  // of a line, except in tables
};

std::string causes_text(const CausesContent& content);
nlohmann::ordered_json causes_json(const CausesContent& content);

// "62 % queue D rlc.tx.am (41 ahead)", ..., "6 % other".
std::vector<std::string> main_causes(const causes::CauseTotals& tally,
                                     const journeys::Topology& topology);

// One packet in one sentence.
std::string sentence(const causes::Verdict& verdict, const CausesContent& content);
std::string sentence(const causes::Verdict& verdict, const causes::ContextNameTable& names,
                     const journeys::Topology& topology);

}  // namespace sojourn::present
