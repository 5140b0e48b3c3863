// --rules FILE on the command line: rules about a trace's points and pairs of them
// (docs/journeys.md has the language); everything else is derived.
#pragma once

#include <string>

#include "analysis/base/result.h"
#include "analysis/journeys/rules.h"
#include "analysis/latseq/graph.h"
#include "analysis/pipeline/trace_input.h"
#include "analysis/trace/reader.h"
#include "userspace/cli/arguments.h"

namespace sojourn::cli {

class RulesOption {
 public:
  void define(Arguments& arguments);

  bool given() const { return !path_.empty(); }
  // The rules of the file; the defaults if none was given.
  Result<journeys::Rules> read() const;

 private:
  std::string path_;
};

// The trace with the rules for its journeys. Rules that fit no point of it are reported on stderr.
Result<pipeline::TraceInput> derive_input(trace::Reader reader, const journeys::Rules& rules);

// The trace file of a command that rebuilds journeys, opened.
Result<pipeline::TraceInput> open_input(const std::string& path, const RulesOption& rules);

// The begin and end places of LatSeq's own rebuilder: from the rules, else its defaults.
latseq::Ends latseq_ends(const journeys::Rules& rules);

}  // namespace sojourn::cli
