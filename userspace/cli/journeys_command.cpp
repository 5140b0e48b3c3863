// `sojourn journeys`: packets one by one, each with every event of its way.
#include <algorithm>
#include <cstdio>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include <fmt/core.h>

#include "analysis/journeys/rule_file.h"
#include "analysis/present/journeys/journey_json.h"
#include "analysis/present/journeys/journey_text.h"
#include "analysis/present/words/text_format.h"
#include "analysis/report/rebuild.h"
#include "userspace/base/thread_executor.h"
#include "userspace/cli/checks.h"
#include "userspace/cli/command.h"
#include "userspace/cli/latseq_output.h"
#include "userspace/cli/progress.h"
#include "userspace/cli/rules_option.h"
#include "userspace/cli/tell.h"
#include "userspace/cli/trace_argument.h"
#include "userspace/cli/where_option.h"

namespace sojourn::cli {
namespace {

using journeys::Journey;
using journeys::Outcome;

struct Options {
  std::string path;
  std::string direction;
  std::string compat;
  std::vector<std::uint64_t> ids;
  std::uint64_t limit = 0;
  std::uint64_t worst = 0;
  bool json = false;
  bool incomplete = false;
  bool inside = false;
  bool explain = false;
  WhereOption where;
  RulesOption rules;
};

// Prints what is asked for, as it comes; with --worst keeps the slowest, with --inside those that
// were there when the capture ended, and prints them at the end.
class Printer : public journeys::Observer {
 public:
  Printer(const Options& options, const std::optional<filter::JourneyFilter>& where,
          trace::Reader& reader, ProgressLine& line)
      : options_(options), where_(where), schema_(reader.schema()), line_(line) {
    for (const auto& stream : reader.streams()) cpus_[stream.id] = stream.cpu;
  }

  void on_journey(const Journey& journey) override {
    last_ = std::max(last_, journey.id);
    if (full() || !wanted(journey)) return;
    if (options_.worst != 0 && !options_.incomplete && !journey.has_latency()) {
      ++at_one_point_;
      return;
    }
    if (!options_.ids.empty()) found_.insert(journey.id);
    if (options_.inside) {
      inside_.push_back({journey.start_ns, journey.id, words(journey)});
      return;
    }
    if (options_.worst == 0) {
      line_.clear();
      fmt::print("{}", words(journey));
      ++printed_;
      return;
    }
    const auto latency_ns = journey.latency_ns();
    if (worst_.size() == options_.worst && latency_ns <= worst_.front().latency_ns) return;
    if (worst_.size() == options_.worst) {
      std::ranges::pop_heap(worst_, slower);
      worst_.pop_back();
    }
    worst_.push_back({latency_ns, journey.id, words(journey)});
    std::ranges::push_heap(worst_, slower);
  }

  bool full() const {
    return (options_.limit != 0 && printed_ >= options_.limit) ||
           (!options_.ids.empty() && printed_ == options_.ids.size());
  }

  // Those that were asked for by number.
  Result<void> found_all(const std::string& path) const {
    for (const auto id : options_.ids)
      if (!found_.contains(id))
        return fail("{}: there is no journey {}: the last one is {}", path, id, last_);
    return {};
  }

  // Without a latency none is the slowest.
  void tell_if_timeless(const std::string& path) const {
    if (printed_ == 0 && at_one_point_ != 0)
      tell("{}: {} seen at one point only, so {} no latency\n", path,
           at_one_point_ == 1 ? "1 packet was" : present::count(at_one_point_) + " packets were",
           at_one_point_ == 1 ? "it has" : "they have");
  }

  void finish() {
    std::ranges::sort(inside_, {},
                      [](const Inside& one) { return std::pair(one.start_ns, one.id); });
    for (const auto& one : inside_) {
      if (full()) return;
      fmt::print("{}", one.words);
      ++printed_;
    }
    std::ranges::sort(worst_, slower);
    for (const auto& kept : worst_) {
      if (full()) return;
      fmt::print("{}", kept.words);
      ++printed_;
    }
  }

 private:
  struct Kept {
    std::uint64_t latency_ns = 0;
    std::uint64_t id = 0;
    std::string words;
  };

  struct Inside {
    std::uint64_t start_ns = 0;
    std::uint64_t id = 0;
    std::string words;
  };

  static bool slower(const Kept& left, const Kept& right) {
    return left.latency_ns != right.latency_ns ? left.latency_ns > right.latency_ns
                                               : left.id < right.id;
  }

  bool wanted(const Journey& journey) const {
    if (!options_.ids.empty())
      return std::ranges::find(options_.ids, journey.id) != options_.ids.end();
    if (where_ && !(*where_)(journey)) return false;
    if (!options_.direction.empty() && letter(journey.direction) != options_.direction[0])
      return false;
    if (options_.inside) return journey.inside_until_ns != 0;
    if (options_.incomplete) return journey.outcome != Outcome::kComplete;
    return options_.worst == 0 || journey.outcome == Outcome::kComplete;
  }

  std::string words(const Journey& journey) const {
    if (options_.json) return present::journey_json(journey, schema_, cpus_) + "\n";
    return present::journey_text(journey, schema_) + "\n";
  }

  const Options& options_;
  const std::optional<filter::JourneyFilter>& where_;
  const model::Schema& schema_;
  ProgressLine& line_;
  present::CpuOfStream cpus_;
  std::uint64_t printed_ = 0;
  std::uint64_t last_ = 0;
  std::uint64_t at_one_point_ = 0;  // asked for by --worst
  std::set<std::uint64_t> found_;
  std::vector<Kept> worst_;  // a heap, the least slow in front
  std::vector<Inside> inside_;
};

Result<void> run(const Options& options) {
  SJ_TRY(rules, options.rules.read());
  SJ_TRY(reader, open_trace(options.path));
  SJ_TRY(topology, derive(reader, rules));
  if (options.explain) return print_data(journeys::rules_text(topology, reader.schema(), rules));
  if (!options.compat.empty())
    return print_latseq_journeys(reader, {.ends = latseq_ends(rules),
                                          .direction = options.direction,
                                          .limit = options.limit,
                                          .worst = options.worst,
                                          .json = options.json});
  ProgressLine line;
  SJ_TRY(where, options.where.journeys(reader));
  Printer printer(options, where, reader, line);
  const std::string told = tell_if_not_whole(reader);
  base::ThreadExecutor threads;
  SJ_CHECK(report::rebuild(
      threads, reader, rules, printer,
      [&](std::uint64_t done, std::uint64_t of) { line.update(done, of); },
      [&](const model::EventBatch&) { return !printer.full(); }));
  line.clear();
  printer.finish();
  printer.tell_if_timeless(options.path);
  tell_if_not_whole(reader, told);
  return printer.found_all(options.path);
}

}  // namespace

Action define_journeys(Arguments& arguments) {
  auto options = std::make_shared<Options>();
  add_trace(arguments, options->path);
  arguments
      .add_option("--id", options->ids,
                  "Only the journey of this number (\"id\" in JSON). Several: --id 3,7")
      .type_name("N")
      .delimiter(',')
      .check(whole_number(0));
  arguments.add_option("--limit", options->limit, "Print at most this many")
      .type_name("N")
      .check(whole_number(1));
  arguments
      .add_option("--worst", options->worst,
                  "Only the N slowest complete journeys, the slowest first; with --incomplete "
                  "those that are not complete")
      .type_name("N")
      .check(whole_number(1, 100'000));
  choose_from(arguments.add_option("--dir", options->direction, "Only downlink (D) or uplink (U)"),
              {"D", "U"});
  options->where.define(arguments,
                        "Only journeys for which this is true, e.g. 'rnti == 0x4601 && at(rlc.tx) "
                        "> 500us' (docs/filters.md)");
  arguments.add_flag("--incomplete", options->incomplete,
                     "Only journeys that are not complete: dropped, censored or incomplete");
  arguments.add_flag("--inside", options->inside,
                     "Only packets that were inside the target when the capture ended, the oldest "
                     "first: where they were, and for how long");
  choose_from(arguments.add_option("--compat", options->compat,
                                   "Rebuild journeys as LatSeq's own rebuilder does; with --json "
                                   "also print them as it does"),
              {"latseq"});
  options->rules.define(arguments);
  arguments.add_flag("--explain-rules", options->explain,
                     "Only print the rules in force: which point feeds which, by which ids, in the "
                     "form of --rules");
  arguments.add_flag("--json", options->json, "One JSON object a line");
  arguments.when_parsed([options] {
    if (options->explain && (options->json || options->where.given() || !options->compat.empty()))
      refuse_usage("--explain-rules is a text about all points: no --json, --where or --compat");
    std::ranges::sort(options->ids);
    const auto twice = std::ranges::unique(options->ids);
    options->ids.erase(twice.begin(), twice.end());
    if (!options->ids.empty() &&
        (options->limit != 0 || options->worst != 0 || options->incomplete || options->inside ||
         options->explain || !options->direction.empty() || options->where.given() ||
         !options->compat.empty()))
      refuse_usage(
          "--id says which journeys: no --limit, --worst, --dir, --where, --incomplete, --inside, "
          "--explain-rules or --compat");
    if (options->inside && (options->worst != 0 || options->incomplete))
      refuse_usage("--inside are those that had not ended: no --worst, no --incomplete");
    if (!options->compat.empty() &&
        (options->where.given() || options->incomplete || options->inside))
      refuse_usage(
          "--compat latseq knows complete journeys only: no --where, --incomplete or --inside");
  });
  arguments.footer(
      "A downlink journey follows one packet from its input to everything its bytes reached. An "
      "uplink journey goes from the packet that left back to everything it was made from.\n"
      "Each line is an event: its number, the time since the journey began, the point, and the "
      "fields that are new or changed. Steps below a fork are indented.\n"
      "\n"
      "joins N    this event continues N of the lines above\n"
      "repeats    this event sends the unit of that line again\n"
      "whole      this event completed the packet. Where it is also the one by which the packet "
      "came in, there is no latency\n"
      "ambiguous  what else this event may have come from, or why that is not sure\n"
      "\n"
      "Journeys are printed in the order in which they ended.");
  return [options] { return run(*options); };
}

}  // namespace sojourn::cli
