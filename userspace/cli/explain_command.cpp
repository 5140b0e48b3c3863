// `sojourn explain`: why packets were late, one by one and in a table of causes.
#include <algorithm>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <fmt/core.h>
#include <nlohmann/json.hpp>

#include "analysis/present/causes/causes_content.h"
#include "analysis/present/words/completeness_words.h"
#include "analysis/report/lateness_analysis.h"
#include "analysis/report/slot_length.h"
#include "analysis/trace/completeness.h"
#include "userspace/base/thread_executor.h"
#include "userspace/cli/checks.h"
#include "userspace/cli/command.h"
#include "userspace/cli/deadline_option.h"
#include "userspace/cli/progress.h"
#include "userspace/cli/rules_option.h"
#include "userspace/cli/terminal.h"
#include "userspace/cli/trace_argument.h"
#include "userspace/cli/where_option.h"

namespace sojourn::cli {
namespace {

using journeys::Journey;

struct Options {
  std::string path;
  std::string direction;
  std::uint64_t worst = 20;
  DeadlineOption deadline;
  bool json = false;
  WhereOption where;
  RulesOption rules;
};

// How long complete packets took, where no deadline is given.
class Latencies : public journeys::Observer {
 public:
  explicit Latencies(causes::Explainer::Wanted wanted) : wanted_(std::move(wanted)) {}

  void on_journey(const Journey& journey) override {
    if (!journey.has_latency() || !wanted_(journey)) return;
    (journey.direction == model::Direction::kUplink ? up_ns_ : down_ns_).add(journey.latency_ns());
  }

  causes::Deadlines deadlines() const {
    return {.down_ns = report::slow_from(down_ns_), .up_ns = report::slow_from(up_ns_)};
  }

 private:
  causes::Explainer::Wanted wanted_;
  statistics::Distribution down_ns_;
  statistics::Distribution up_ns_;
};

// The slowest ones.
class Worst {
 public:
  explicit Worst(std::size_t most) : most_(most) {}

  void add(const causes::Verdict& verdict) {
    if (kept_.size() == most_ && !is_slower(verdict, kept_.front())) return;
    if (kept_.size() == most_) {
      std::ranges::pop_heap(kept_, is_slower);
      kept_.pop_back();
    }
    kept_.push_back(verdict);
    std::ranges::push_heap(kept_, is_slower);
  }

  std::vector<causes::Verdict> take() && {
    std::ranges::sort(kept_, is_slower);
    return std::move(kept_);
  }

 private:
  static bool is_slower(const causes::Verdict& left, const causes::Verdict& right) {
    return left.latency_ns() != right.latency_ns() ? left.latency_ns() > right.latency_ns()
                                                   : left.journey < right.journey;
  }

  std::size_t most_;
  std::vector<causes::Verdict> kept_;  // a heap, the least slow in front
};

Result<void> run(const Options& options) {
  SJ_TRY(rules, options.rules.read());
  SJ_TRY(reader, open_trace(options.path));
  SJ_TRY(topology, derive(reader, rules));
  SJ_TRY(where, options.where.journeys(reader));
  const auto wanted = [&](const Journey& journey) {
    const bool is_direction =
        options.direction.empty() || letter(journey.direction) == options.direction[0];
    return is_direction && (!where || (*where)(journey));
  };
  ProgressLine line;
  // Where the deadline is in what happened, everything is read twice.
  const bool looks_first = !options.deadline.given() || options.deadline.asks_events();
  const std::uint64_t passes = looks_first ? 2 : 1;
  const auto progress = [&](std::uint64_t pass) {
    return [&line, pass, passes](std::uint64_t done, std::uint64_t of) {
      line.update(pass * of + done, passes * of);
    };
  };
  Latencies latencies(wanted);
  report::SlotLength slots(reader.schema());
  base::ThreadExecutor threads;
  if (looks_first)
    SJ_CHECK(report::rebuild(threads, reader, rules, latencies, progress(0),
                             [&](const model::EventBatch& events) {
                               if (options.deadline.asks_events()) slots.consume(events);
                               return true;
                             }));
  causes::Deadlines deadlines = latencies.deadlines();
  if (options.deadline.given()) {
    line.clear();
    SJ_TRY(deadline_ns, options.deadline.in_time(slots, reader));
    deadlines = {.down_ns = deadline_ns, .up_ns = deadline_ns};
  }
  Worst worst(options.worst);
  report::LatenessAnalysis inquiry(reader, topology, rules, deadlines, wanted,
                                   [&](const causes::Verdict& verdict) { worst.add(verdict); });
  SJ_CHECK(inquiry.run(threads, progress(passes - 1)));
  line.clear();
  const present::CausesContent content = {
      .path = options.path,
      .target = reader.target(),
      .schema = reader.schema(),
      .topology = topology,
      .names = inquiry.names(),
      .tally = inquiry.tally(),
      .found = inquiry.found(),
      .deadlines = deadlines,
      .was_given = options.deadline.given(),
      .where = options.where.text(),
      .missing = present::missing_evidence(reader.context(), !reader.queue_changes().empty()),
      .worst = std::move(worst).take(),
      .width = line_width()};
  if (!options.json) {
    fmt::print("{}{}", first_line(reader), present::causes_text(content));
    return {};
  }
  tell_if_not_whole(reader);
  auto document = present::causes_json(content);
  document["file"] = present::completeness_json(trace::completeness_of(reader));
  fmt::print("{}\n",
             document.dump(2, ' ', false, nlohmann::ordered_json::error_handler_t::replace));
  return {};
}

}  // namespace

Action define_explain(Arguments& arguments) {
  auto options = std::make_shared<Options>();
  add_trace(arguments, options->path);
  arguments.when_parsed([options] { options->deadline.check(); });
  options->deadline.define(arguments,
                           "A packet is late when it took longer than this; by default the slowest "
                           "1 % of each direction are late");
  arguments
      .add_option("--worst", options->worst, "Explain this many of the slowest packets, one by one")
      .type_name("N")
      .check(whole_number(1, 100'000))
      .capture_default_str();
  choose_from(arguments.add_option("--dir", options->direction, "Only downlink (D) or uplink (U)"),
              {"D", "U"});
  options->where.define(
      arguments, "Only packets for which this is true, e.g. 'rnti == 0x4601' (docs/filters.md)");
  options->rules.define(arguments);
  arguments.add_flag("--json", options->json, "One JSON object instead of text");
  arguments.footer(
      "A packet's time is divided into parts, and each part has a cause. What its thread did "
      "meanwhile: it worked on the packet (work), it worked on packets ahead of it (queue), it "
      "waited for a CPU, it slept or waited for a lock, or it was interrupted. What the packet "
      "waited for: a slot, its other segments, a packet that had to go first, or a "
      "retransmission.\n"
      "A packet is counted under the cause that took most of its time. \"time in all\" is the sum "
      "of a cause's parts over all late packets.\n"
      "\n"
      "Threads are known from kernel context in the trace:\n"
      "  sojourn record -p PID --context sched,irq --queues -o run.sjt\n"
      "docs/explain.md says how the parts are told apart.");
  return [options] { return run(*options); };
}

}  // namespace sojourn::cli
