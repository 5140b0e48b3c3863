// The report for people. It fits 110 columns and reads well in a bug report: plain ASCII, aligned,
// and no claim that the trace does not support.
#include <algorithm>
#include <cmath>
#include <numeric>
#include <optional>
#include <ranges>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "analysis/base/shell_word.h"
#include "analysis/journeys/path_order.h"
#include "analysis/model/redacted_mark.h"
#include "analysis/present/causes/causes_content.h"
#include "analysis/present/report/activities_part.h"
#include "analysis/present/report/context_part.h"
#include "analysis/present/report/costs_part.h"
#include "analysis/present/report/counters_part.h"
#include "analysis/present/report/deadline_part.h"
#include "analysis/present/report/energy_part.h"
#include "analysis/present/report/facts_text.h"
#include "analysis/present/report/net_times_part.h"
#include "analysis/present/report/path_ends.h"
#include "analysis/present/report/report_content.h"
#include "analysis/present/report/spans_part.h"
#include "analysis/present/threads/threads_content.h"
#include "analysis/present/words/completeness_words.h"
#include "analysis/present/words/depth_labels.h"
#include "analysis/present/words/table.h"
#include "analysis/present/words/text_format.h"
#include "analysis/report/costs.h"

namespace sojourn::present {
namespace {

using journeys::PointPlan;
using model::Direction;
using model::PointId;

constexpr std::array kColumnShares = {0.5, 0.9, 0.99, 0.999};
constexpr std::size_t kBarWidth = 6;

void add_times(std::vector<std::string>& cells, const statistics::Distribution& times) {
  const auto said = [&](double ns) { return times.count() == 0 ? "-" : duration(ns); };
  cells.push_back(said(times.mean()));
  for (const auto share : kColumnShares)
    cells.push_back(said(static_cast<double>(times.quantile(share))));
  cells.push_back(said(static_cast<double>(times.max())));
}

// Rows of times, and a last column of how much of each was tracing, where that is much of one.
class Rows {
 public:
  Rows(const ReportContent& content, std::vector<std::string> header)
      : content_(content), header_(std::move(header)) {}

  void add(std::vector<std::string> cells, std::optional<double> tracing) {
    rows_.emplace_back(std::move(cells), tracing);
  }

  // `spared`: the columns that are left out before that of tracing where there is no room.
  Table table(const std::vector<std::pair<std::size_t, std::string>>& spared) {
    const bool tells = shows_net_times(content_) && std::ranges::any_of(rows_, [](const auto& row) {
                         return row.second.value_or(0) > kMuchTracing;
                       });
    const std::size_t last = header_.size();
    if (tells) header_.emplace_back("tracing");
    Table table(std::move(header_));
    for (const auto& [column, words] : spared) table.spare(column, words);
    if (tells) table.spare(last);
    for (auto& [cells, tracing] : rows_) {
      if (tells) cells.push_back(tracing ? percent(*tracing) : "-");
      table.row(std::move(cells));
    }
    return table;
  }

 private:
  const ReportContent& content_;
  std::vector<std::string> header_;
  std::vector<std::pair<std::vector<std::string>, std::optional<double>>> rows_;
};

class ReportWriter {
 public:
  explicit ReportWriter(const ReportContent& content)
      : content_(content), facts_(content.facts), topology_(content.topology) {}

  std::string run(bool all_points) {
    if (const auto words = not_whole(facts_.file, facts_.path); !words.empty())
      text_ += present::wrapped(words, 2, content_.width) + "\n";
    head();
    text_ += processes_text(facts_);
    if (has_units()) {
      text_ += net_times_text(content_);
      latency();
      outcomes();
      inside();
      if (content_.deadline_ns) text_ += deadline_text(content_);
      for (const auto direction : model::kPacketDirections) places(direction);
      lateness();
      if (content_.selection) line("\nof the whole trace:");
      happenings();
    }
    if (content_.threads == nullptr)
      points(all_points);
    else
      text_ += threads_text({.survey = *content_.threads,
                             .duration_s = content_.duration_s(),
                             .width = content_.width});
    if (content_.spans != nullptr) text_ += spans_text(content_);
    if (content_.activities != nullptr) text_ += activities_text(content_);
    if (content_.context != nullptr) text_ += context_text(*content_.context, content_.width);
    text_ += counters_text(content_) + report_energy_text(content_);
    doubts();
    text_ += ledger_text(facts_) + shed_text(facts_) + unarmed_text(facts_);
    next();
    return std::move(text_);
  }

 private:
  template <typename... Args>
  void line(fmt::format_string<Args...> format, Args&&... args) {
    fmt::format_to(std::back_inserter(text_), format, std::forward<Args>(args)...);
    text_ += '\n';
  }

  const std::string name(PointId point) const {
    return fmt::format("{} {}", letter(facts_.schema.points[point].direction),
                       facts_.schema.points[point].name());
  }

  bool has_units() const {
    return std::ranges::any_of(model::kPacketDirections,
                               [this](Direction direction) { return used(direction); });
  }

  bool used(Direction direction) const {
    for (std::size_t i = 0; i < topology_.points.size(); ++i)
      if (topology_.points[i].direction == direction && content_.totals.points[i].events > 0)
        return true;
    return false;
  }

  // "nr-cu, pid 4242", of several "nr-cu, pid 4242, and nr-du, pid 4300".
  std::string whose() const {
    const auto& targets = facts_.targets;
    const auto one = [](const model::Target& target) {
      return (target.name.empty() ? "unnamed target" : printable(target.name)) +
             (target.pid == 0 ? "" : fmt::format(", pid {}", target.pid));  // 0: an import
    };
    if (targets.size() == 1) return one(targets[0]);
    if (targets.size() == 2) return fmt::format("{}, and {}", one(targets[0]), one(targets[1]));
    return fmt::format("{} processes", targets.size());
  }

  // The number of events of the target's points, if any were recorded. The kernel's events have
  // tables of their own.
  std::string how_many() const {
    const auto events = content_.totals.events;
    const bool has_points =
        std::ranges::any_of(topology_.points, [](const auto& plan) { return plan.of_target; });
    if (events == 0 && !has_points) return "no points recorded";
    return fmt::format("{} {}", count(events), events == 1 ? "event" : "events");
  }

  void head() {
    std::string tracing;
    const report::Costs costs = report::costs_of(facts_.capture, facts_.ledger, content_.totals);
    if (costs.share) {
      tracing = fmt::format("; tracing took {} of the target's CPU", percent(*costs.share));
    } else if (facts_.capture.target_cpu_ns > 0) {
      const auto share = static_cast<double>(facts_.capture.tracer_cpu_ns) /
                         static_cast<double>(facts_.capture.target_cpu_ns);
      tracing = fmt::format("; the tracer's own CPU time is {} of the target's", percent(share));
    }
    line("{}, {}, {}, {}{}", whose(), duration(content_.duration_s() * 1e9), how_many(),
         losses_words(facts_.file), tracing);
    if (model::is_redacted(facts_.capture))
      line("redacted: ids and names were replaced, times were not");
    if (!facts_.capture.script.empty()) line("as {} has it", printable(facts_.capture.script));
    if (content_.script)
      if (const auto words = script_text(*content_.script); !words.empty()) line("{}", words);
    if (content_.selection) line("{}", selection_text(*content_.selection));
  }

  bool all_exact() const {
    for (const auto direction : model::kPacketDirections)
      if (!content_.summary.direction(direction).latency_ns.exact()) return false;
    for (std::size_t i = 0; i < topology_.pairs.size(); ++i)
      if (!content_.summary.hop(i).exact()) return false;
    return true;
  }

  void latency() {
    Rows rows(content_, {"latency", "packets", "mean", "p50", "p90", "p99", "p99.9", "max"});
    for (const auto direction : model::kPacketDirections) {
      if (!used(direction)) continue;
      const auto& summary = content_.summary.direction(direction);
      if (summary.is_timeless()) continue;
      std::vector<std::string> cells = {
          fmt::format("{} {}", letter(direction), path_ends(content_, direction)),
          count(summary.latency_ns.count())};
      add_times(cells, latency_of(content_, direction));
      rows.add(std::move(cells), tracing_share(content_, direction));
    }
    text_ += '\n';
    if (const Table table = rows.table({{4, ""}, {6, ""}, {2, ""}}); !table.empty())
      text_ += table.text(content_.width);
    if (!all_exact()) text_ += kInexact;
    text_ += hosts_text(facts_);
    text_ += unplaced_text(content_);
    for (const auto direction : model::kPacketDirections) at_one_point(direction);
  }

  // Names the points that are both input and output, where a packet is seen only once.
  std::vector<std::string> single_points(Direction direction) const {
    std::vector<std::string> names;
    for (std::size_t i = 0; i < topology_.points.size(); ++i) {
      const auto& plan = topology_.points[i];
      if (plan.direction == direction && plan.input && plan.output &&
          content_.totals.points[i].events != 0)
        names.push_back(name(static_cast<PointId>(i)));
    }
    return names;
  }

  // A packet with one point has no latency, rather than one of 0 ns.
  void at_one_point(Direction direction) {
    constexpr std::size_t kMaxNamed = 3;
    const auto& summary = content_.summary.direction(direction);
    if (summary.at_one_point == 0) return;
    auto names = single_points(direction);
    const bool is_one = names.size() == 1;
    if (names.size() > kMaxNamed + 1) {
      names[kMaxNamed] = fmt::format("{} more", names.size() - kMaxNamed);
      names.resize(kMaxNamed + 1);
    }
    const auto text = fmt::format(
        "{}: {} seen at {} only, so {} no latency", fmt::join(names, ", "),
        summary.at_one_point == 1 ? "1 packet was" : count(summary.at_one_point) + " packets were",
        is_one ? "this point" : "one of these points",
        summary.at_one_point == 1 ? "it has" : "they have");
    line("{}", present::wrapped(text, 2, content_.width));
    if (summary.is_timeless())
      line("  which point feeds which: sojourn report {} --explain-rules", shell_word(facts_.path));
  }

  void outcomes() {
    Table table({"journeys", "seen", "complete", "dropped", "censored", "incomplete", "ambiguous",
                 "in pieces", "repeated"});
    for (const auto direction : model::kPacketDirections) {
      if (!used(direction)) continue;
      const auto& summary = content_.summary.direction(direction);
      table.row({std::string(1, letter(direction)), count(summary.count()), count(summary.complete),
                 count(summary.dropped), count(summary.censored), count(summary.incomplete),
                 count(summary.ambiguous), count(summary.in_pieces), count(summary.repeated)});
    }
    table.spare(7);
    table.spare(8);
    text_ += "\n" + table.text(content_.width);
  }

  // Returns whether the capture ended because the target did. The packets inside then are those
  // that it died with.
  bool shows_inside() const {
    const auto& capture = facts_.capture;
    return capture.ended_by.starts_with("target exit") || capture.attach == "flight rings";
  }

  void inside() {
    for (const auto direction : model::kPacketDirections) {
      const auto before = content_.summary.direction(direction).before_open;
      if (before != 0)
        line("{}: {} more, last seen before the span that the trace has whole, are not counted",
             letter(direction), count(before));
    }
    if (!shows_inside()) return;
    Table table({"inside at the end", "packets", "since p50", "max", "oldest packet"});
    for (const auto direction : model::kPacketDirections) {
      for (const auto at : places_of(direction)) {
        const auto& place = content_.summary.place(at);
        if (place.inside_ns.count() == 0) continue;
        table.row({fmt::format("{} {}", letter(direction), topology_.places[at].name),
                   count(place.inside_ns.count()),
                   duration(static_cast<double>(place.inside_ns.quantile(0.5))),
                   duration(static_cast<double>(place.inside_ns.max())),
                   duration(static_cast<double>(place.oldest_inside_ns))});
      }
    }
    if (!table.empty()) text_ += "\n" + table.text();
  }

  std::vector<std::uint16_t> places_of(Direction direction) const {
    return journeys::places_in_order(topology_, direction);
  }

  statistics::Distribution stays(const std::vector<std::size_t>& pairs) const {
    statistics::Distribution all;
    for (const auto pair : pairs) all.merge(stay_of(content_, pair));
    return all;
  }

  void places(Direction direction) {
    const auto order = places_of(direction);
    const auto pairs = journeys::stays_by_place(topology_);
    const auto whole = std::accumulate(
        order.begin(), order.end(), 0.0,
        [this](double sum, auto at) { return sum + critical_path_ns_of(content_, at); });
    Rows rows(content_, {fmt::format("where {} spends it", letter(direction)), "share", "", "count",
                         "mean", "p50", "p90", "p99", "p99.9", "max", "in flight (max)"});
    const bool marks_some = std::ranges::any_of(
        order, [this](auto at) { return is_marked(content_.summary.place(at)); });
    for (const auto at : order) {
      const auto& place = content_.summary.place(at);
      const auto times = stays(pairs[at]);
      if (times.count() == 0 && place.depth.entered() == 0) continue;
      const auto share = whole > 0 ? critical_path_ns_of(content_, at) / whole : 0;
      std::vector<std::string> cells = {"  " + topology_.places[at].name, percent(share),
                                        bar(share, kBarWidth), count(times.count())};
      add_times(cells, times);
      cells.push_back(depth(place, marks_some));
      rows.add(std::move(cells), tracing_share(content_, pairs[at]));
    }
    Table table = rows.table({{2, "bars of the share"}, {6, ""}, {8, ""}, {4, ""}});
    table.left(2);
    if (table.empty()) return;
    text_ += "\n" + table.text(content_.width);
    for (const auto at : order) never_left(at);
  }

  // Returns whether the place has a mark, because its depth means nothing.
  bool is_marked(const report::PlaceSummary& place) const {
    return !content_.selection && !place.is_depth_known();
  }

  // `marks_some`: of the column, so that all numbers stand below each other.
  std::string depth(const report::PlaceSummary& place, bool marks_some) const {
    if (content_.selection) return "-";
    const auto mark = is_marked(place) ? std::string(kNoDepthMark)
                                       : std::string(marks_some ? kNoDepthMark.size() : 0, ' ');
    return fmt::format("{} ({}){}", count(place.depth.quantile(0.5)), count(place.depth.max()),
                       mark);
  }

  void never_left(std::size_t at) {
    const auto& place = content_.summary.place(at);
    if (!is_marked(place)) return;
    const auto& [direction, name] = topology_.places[at];
    const auto text = never_left_text(fmt::format("{} {}", letter(direction), name),
                                      {.units = place.never_left(),
                                       .of = place.depth.entered(),
                                       .depth_share = place.never_left_share(),
                                       .is_depth_known = false});
    line("{}", present::wrapped("  " + text, 6, content_.width));
  }

  void lateness() {
    if (content_.late == nullptr || content_.late->packets() == 0) return;
    text_ += '\n';
    wrapped(fmt::format("why the slowest {} were late", count(content_.late->packets())),
            main_causes(*content_.late, topology_), "");
  }

  // Drops, repeats and control, each where it happened.
  void happenings() {
    std::vector<std::string> drops;
    std::vector<std::string> repeats;
    std::uint64_t control = 0;
    for (std::size_t i = 0; i < topology_.points.size(); ++i) {
      const auto& totals = content_.totals.points[i];
      const auto& point = facts_.schema.points[i];
      const auto dir = letter(point.direction);
      if (topology_.points[i].drop && totals.events > 0)
        drops.push_back(fmt::format("{} {} {}", dir, point.src, count(totals.events)));
      if (totals.repeats > 0)
        repeats.push_back(fmt::format(
            "{} {} {} ({})", dir, topology_.points[i].input ? point.dest : point.src,
            count(totals.repeats),
            percent(static_cast<double>(totals.repeats) / static_cast<double>(totals.events))));
      if (topology_.points[i].control) control += totals.control;
    }
    text_ += '\n';
    wrapped("dropped in   ", drops, "nothing");
    wrapped("sent again in", repeats, "nothing");
    if (control > 0) line("control units  {}", count(control));
  }

  void wrapped(std::string_view label, const std::vector<std::string>& words,
               std::string_view none) {
    const std::size_t width = std::min<std::size_t>(content_.width, 110);
    std::string row(label);
    row += "  ";
    const auto indent = row.size();
    if (words.empty()) row += none;
    for (std::size_t i = 0; i < words.size(); ++i) {
      if (i > 0 && row.size() + words[i].size() + 3 > width) {
        line("{}", row);
        row.assign(indent, ' ');
      } else if (i > 0) {
        row += "   ";
      }
      row += words[i];
    }
    line("{}", row);
  }

  std::uint64_t lost_at(std::size_t point) const {
    std::uint64_t sum = 0;
    for (const auto& entry : facts_.ledger)
      if (entry.point == point) sum += entry.count;
    return sum;
  }

  void points(bool all) {
    Table table({"points", "hits", "a second", "lost", "sent again", "control", "fields"});
    table.left(6);
    std::vector<std::string> silent;
    const auto seconds = std::max(content_.duration_s(), 1e-9);
    for (std::size_t i = 0; i < topology_.points.size(); ++i) {
      if (!topology_.points[i].of_target) continue;
      const auto& totals = content_.totals.points[i];
      if (totals.events == 0) silent.push_back(name(static_cast<PointId>(i)));
      table.row({"  " + name(static_cast<PointId>(i)), count(totals.events),
                 count(static_cast<std::uint64_t>(
                     std::llround(static_cast<double>(totals.events) / seconds))),
                 count(lost_at(i)), count(totals.repeats), count(totals.control),
                 format_fields(facts_.schema.points[i])});
    }
    if (all) {
      text_ += "\n" + table.text();
      return;
    }
    const auto points = static_cast<std::size_t>(
        std::ranges::count_if(topology_.points, [](const auto& plan) { return plan.of_target; }));
    line("points         {}, {} hit", points,
         silent.empty() ? "all" : std::to_string(points - silent.size()));
    constexpr std::size_t kNamed = 12;
    if (silent.size() > kNamed) {
      const std::size_t more = silent.size() - kNamed;
      silent.resize(kNamed);
      silent.push_back(fmt::format("{} more", count(more)));
    }
    if (!silent.empty()) wrapped("never hit    ", silent, "");
  }

  std::string reason(PointId point) const {
    std::uint64_t parents = 0;
    std::vector<std::string> key;
    for (const auto index : topology_.points[point].pairs) {
      const auto& pair = topology_.pairs[index];
      parents += content_.totals.points[pair.parent].events;
      key = pair.key;
    }
    if (parents == 0) return "no point before it was ever hit";
    if (facts_.file.lost_or_missing() > 0) return "its parent may be among the lost events";
    return fmt::format("no unit with the same {} was waiting", fmt::join(key, "."));
  }

  void doubts() {
    Table table({"orphans", "events", "likely reason"});
    table.left(2);
    for (std::size_t i = 0; i < topology_.points.size(); ++i) {
      const auto& totals = content_.totals.points[i];
      if (totals.orphans > 0)
        table.row({"  " + name(static_cast<PointId>(i)), count(totals.orphans),
                   reason(static_cast<PointId>(i))});
      if (totals.malformed > 0)
        table.row({"  " + name(static_cast<PointId>(i)), count(totals.malformed),
                   "number of values differs from the schema's"});
      if (totals.unread > 0)
        table.row({"  " + name(static_cast<PointId>(i)), count(totals.unread),
                   "which unit it is could not be read in the target's memory"});
    }
    if (!table.empty()) text_ += "\n" + table.text();
    for (std::size_t i = 0; i < topology_.pairs.size(); ++i) {
      if (!content_.totals.lengths_differ.empty() && content_.totals.lengths_differ[i])
        line("lengths at {} and {} do not fit together: bytes were not used to match them",
             name(topology_.pairs[i].parent), name(topology_.pairs[i].child));
    }
    if (content_.totals.mixed_senders)
      line(
          "several senders use the same numbers or HARQ processes, and no id says which is which: "
          "journeys may be mixed. An id such as rnti at those points tells them apart");
    if (content_.totals.crowded > 0)
      line(
          "{} events found as many units in memory as are kept: the oldest gave way, and journeys "
          "may be cut short or wrong. `units` in a rule file keeps more",
          count(content_.totals.crowded));
  }

  void next() {
    const auto& down = content_.summary.direction(Direction::kDownlink);
    const auto& up = content_.summary.direction(Direction::kUplink);
    if (shows_inside() && down.inside + up.inside != 0)
      line("\nnext: sojourn journeys {} --inside", shell_word(facts_.path));
    else if (down.latency_ns.count() + up.latency_ns.count() != 0)
      line("\nnext: sojourn {} {} --worst 5", content_.late == nullptr ? "journeys" : "explain",
           shell_word(facts_.path));
    else if (down.at_one_point + up.at_one_point != 0)
      line("\nnext: sojourn report {} --by point", shell_word(facts_.path));
    if (content_.threads != nullptr)
      line("\nnext: sojourn list -p {} --suggest > my.toml", facts_.targets.front().pid);
    else if (content_.context != nullptr && content_.context->has("sched"))
      line("next: sojourn threads {}", shell_word(facts_.path));
    if (has_profile()) line("next: sojourn profile {}", shell_word(facts_.path));
  }

  bool has_profile() const {
    return content_.work != nullptr &&
           std::ranges::any_of(content_.work->counters(), [](const model::Counter& counter) {
             return counter.name == model::kProfile && counter.missing.empty();
           });
  }

  const ReportContent& content_;
  const Facts& facts_;
  const journeys::Topology& topology_;
  std::string text_;
};

}  // namespace

std::string report_text(const ReportContent& content, bool all_points) {
  return ReportWriter(content).run(all_points);
}

}  // namespace sojourn::present
