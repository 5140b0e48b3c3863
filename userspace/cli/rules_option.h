// --rules FILE on the command line: what is stated about a trace's points and pairs of them
// (docs/journeys.md has the language); the rest is derived.
#pragma once

#include <string>

#include "analysis/base/result.h"
#include "analysis/journeys/rules.h"
#include "analysis/journeys/topology.h"
#include "analysis/latseq/graph.h"
#include "analysis/trace/reader.h"
#include "userspace/cli/arguments.h"

namespace sojourn::cli {

class RulesOption {
 public:
  void define(Arguments& arguments);

  bool given() const { return !path_.empty(); }
  // The default ones where no file was given.
  Result<journeys::Rules> read() const;

 private:
  std::string path_;
};

// The points of a trace as the rules take them. Rules that mean no point of it are told on stderr.
Result<journeys::Topology> derive(const trace::Reader& reader, const journeys::Rules& rules);

// Where LatSeq's own rebuilder is to begin and end: what the rules state, else where it always
// does.
latseq::Ends latseq_ends(const journeys::Rules& rules);

}  // namespace sojourn::cli
