// Answers the questions of a report page about its trace: with the same figures, by the same code,
// as the command line's --json. A question is a JSON object with the name of a call:
//
//   {"call": "about"}                               target, events, duration; reads no
//                                                   events
//   {"call": "first screen", "where": EXPR}         the next three in one pass over the trace:
//                                                   "report", "explanation", and the columns
//   {"call": "summarised screen"}                   "first screen" of all packets, with counts in
//                                                   cells instead of columns
//   {"call": "report",   "where": EXPR}             as `sojourn report --json`
//   {"call": "explain",  "where": EXPR}             as `sojourn explain --json`
//   {"call": "differences", "slow": EXPR, "where": EXPR}  as `sojourn why-slow --json`
//   {"call": "queues",   "where": EXPR}             as `sojourn queues --json --depths`
//   {"call": "journeys", "where": EXPR, "by": NAME} a column each of id, start, latency, ...; with
//                                                   "by" their groups, as `sojourn report --by`
//   {"call": "pieces",   "where": EXPR}             such columns of the pieces of complete
//                                                   packets
//   {"call": "packet",   "id": N}                   one journey whole, and why it took so long; for
//                                                   each event the share of stays in its hops that
//                                                   took at most as long, and the packets that were
//                                                   in the same block
//   {"call": "packets",  "ids": [N]}                "packet" for several, in as many passes as for
//                                                   one
//   {"call": "ids",      "ids": [N]}                the ids by which people know some packets: UE,
//                                                   bearer, number
//   {"call": "groups",   "where": EXPR, "by": NAME} distributions of groups of packets, or of
//                                                   stays by hop or layer, without columns
//   {"call": "windows",  "windows": [{"from_ns", "to_ns"}]}  the column "trace": the bytes of a
//                                                   trace of these stretches of its clock
//   {"call": "events",   "where": EXPR, "limit": N} the first events
//   {"call": "timeline", "from_ns": N, "to_ns": N}  events by thread and stretch of time: columns
//   {"call": "profile",  "where": EXPR}             as `sojourn profile --json`, with all stacks
//   {"call": "compare",  "where": EXPR}             as `sojourn diff --json` of both traces
//   {"call": "machine"}                             the trace's host block: "measured" is the text
//                                                   of `sojourn host --json`, empty if there is
//                                                   none
//   {"call": "names"}                               what a filter can name: points and their ids,
//                                                   threads, CPUs
//
// A question with "trace": 1 is about the second trace, if there is one.
//
// It knows neither JavaScript nor WebAssembly (wasm_page.cpp does). One thread owns a PageEngine.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include <nlohmann/json_fwd.hpp>

#include "analysis/base/result.h"
#include "analysis/page/answer_sink.h"
#include "analysis/pipeline/rebuild.h"
#include "analysis/trace/byte_source.h"

namespace sojourn::page {

class PageEngine {
 public:
  // Opens a trace, or a LatSeq recording.
  static Result<PageEngine> open(std::unique_ptr<trace::ByteSource> source);
  // Opens a second trace, in the place of an earlier second one.
  Result<void> compare_with(std::unique_ptr<trace::ByteSource> source);
  PageEngine(PageEngine&&) noexcept;
  PageEngine& operator=(PageEngine&&) noexcept;
  ~PageEngine();

  // Returns the answer as the text of a JSON object. Fails in the words of the command line if the
  // question is no question, or its filter is refused.
  Result<std::string> answer(std::string_view question, AnswerSink& sink);

 private:
  struct State;
  explicit PageEngine(std::unique_ptr<State> state);
  Result<std::string> answer_once(std::string_view question, AnswerSink& sink);
  static Result<std::unique_ptr<State>> opened(std::unique_ptr<trace::ByteSource> source);
  Result<nlohmann::ordered_json> compare(const nlohmann::json& question,
                                         const pipeline::Progress& progress);

  std::unique_ptr<State> state_;
  std::unique_ptr<State> other_;  // null: there is no second trace
};

}  // namespace sojourn::page
