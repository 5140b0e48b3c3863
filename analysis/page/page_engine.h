// What a report page asks of the trace that it carries: the same figures, by the same code, as the
// command line's --json. A question is a JSON object with the name of a call:
//
//   {"call": "report",   "where": EXPR}             as `sojourn report --json`
//   {"call": "explain",  "where": EXPR}             as `sojourn explain --json`
//   {"call": "differences", "slow": EXPR, "where": EXPR}  as `sojourn why-slow --json`
//   {"call": "queues",   "where": EXPR}             as `sojourn queues --json --depths`
//   {"call": "journeys", "where": EXPR, "by": NAME} a column each of id, start, latency, ...; with
//                                                   "by" their groups, as `sojourn report --by`
//   {"call": "pieces",   "where": EXPR}             the same of the pieces of complete packets
//   {"call": "packet",   "id": N}                   one journey whole, and why it took so long; of
//   each
//                                                   event the share of stays in its hops that took
//                                                   at most as long, and who was in the same block
//   {"call": "events",   "where": EXPR, "limit": N} the first events
//   {"call": "timeline", "from_ns": N, "to_ns": N}  events by thread and stretch of time: columns
//   {"call": "machine"}                             the trace's host block: "measured" is the text
//                                                   of `sojourn host --json`, empty if there is
//                                                   none
//   {"call": "names"}                               what a filter can name: points and their ids,
//                                                   threads, CPUs
//
// It knows neither JavaScript nor WebAssembly (wasm_page.cpp does). One thread owns a PageEngine.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "analysis/base/result.h"
#include "analysis/page/answer_sink.h"
#include "analysis/trace/byte_source.h"

namespace sojourn::page {

class PageEngine {
 public:
  // A trace, or a LatSeq recording.
  static Result<PageEngine> open(std::unique_ptr<trace::ByteSource> source);
  PageEngine(PageEngine&&) noexcept;
  PageEngine& operator=(PageEngine&&) noexcept;
  ~PageEngine();

  // The text of the answer, a JSON object. An error where the question is none, or its filter is
  // refused, in the words of the command line.
  Result<std::string> answer(std::string_view question, AnswerSink& sink);

 private:
  struct State;
  explicit PageEngine(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

}  // namespace sojourn::page
