// What a report page asks of the trace that it carries: the same figures, by the same code, as the
// command line's --json. A question is a JSON object with the name of a call:
//
//   {"call": "about"}                               target, events, duration: at once
//   {"call": "first screen", "where": EXPR}         the next three in one pass over the trace:
//                                                   "report", "explanation", and the columns
//   {"call": "summarised screen"}                   the same of all packets, with counts in cells
//                                                   instead of columns
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
//   {"call": "packets",  "ids": [N]}                the same of some, in as many passes as of one
//   {"call": "groups",   "where": EXPR, "by": NAME} distributions of groups, also of stays by hop
//                                                   or layer, without columns
//   {"call": "windows",  "windows": [{"from_ns", "to_ns"}]}  "trace": a column, the bytes of a
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
// With "trace": 1 a question is about the second trace, where there is one.
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
  // A trace, or a LatSeq recording.
  static Result<PageEngine> open(std::unique_ptr<trace::ByteSource> source);
  // A second trace beside it, instead of the one that was there.
  Result<void> compare_with(std::unique_ptr<trace::ByteSource> source);
  PageEngine(PageEngine&&) noexcept;
  PageEngine& operator=(PageEngine&&) noexcept;
  ~PageEngine();

  // The text of the answer, a JSON object. An error where the question is none, or its filter is
  // refused, in the words of the command line.
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
