#include <algorithm>
#include <array>

#include <fmt/format.h>

#include "analysis/base/shell_word.h"
#include "analysis/present/causes/cause_labels.h"
#include "analysis/present/causes/causes_content.h"
#include "analysis/present/causes/stay_floors_text.h"
#include "analysis/present/words/field_text.h"
#include "analysis/present/words/table.h"
#include "analysis/present/words/text_format.h"

namespace sojourn::present {

using causes::CauseKind;
using causes::CauseTotals;
using causes::LatencyPart;
using causes::Verdict;
using model::Direction;

namespace {

constexpr std::size_t kMaxRows = 20;
constexpr std::size_t kMaxClauses = 3;
constexpr double kWorthSaying = 0.05;  // of the latency
constexpr std::size_t kMaxCauses = 4;
constexpr std::size_t kHanging = 6;  // columns, of lines that go on

std::string limit(const CausesContent& content) {
  const auto said = [](std::uint64_t ns) { return duration(static_cast<double>(ns)); };
  if (content.was_given) return said(content.deadlines.down_ns);
  std::string text;
  if (content.deadlines.down_ns != UINT64_MAX) text = said(content.deadlines.down_ns) + " downlink";
  if (content.deadlines.up_ns != UINT64_MAX)
    text += (text.empty() ? "" : ", ") + said(content.deadlines.up_ns) + " uplink";
  return text + " (the slowest 1 % of each)";
}

std::string causes_table(const CausesContent& content) {
  Table table({"why they were late", "packets", "share", "counted", "time in all"});
  table.fold(0);
  std::size_t listed = 0;
  for (const CauseTotals::Row& row : content.tally.rows()) {
    if (row.packets == 0) break;
    if (++listed > kMaxRows) {
      table.row({"  and more: --json has all"});
      break;
    }
    table.row({"  " + label(row.cause, content.topology), count(row.packets),
               percent(ratio(row.packets, content.tally.packets())),
               count_label(row.cause.kind, row.mean_count()),
               duration(static_cast<double>(row.ns))});
  }
  return table.empty() ? "" : "\n" + table.text(content.width);
}

std::string dropped_table(const CausesContent& content) {
  Table table({"never arrived", "packets"});
  for (const auto& [point, packets] : content.found.dropped()) {
    const model::Point& at = content.schema.points[point];
    table.row({fmt::format("  dropped in {} {}", letter(at.direction), at.src), count(packets)});
  }
  return table.empty() ? "" : "\n" + table.text();
}

std::string missing_text(const CausesContent& content) {
  std::string text;
  for (const MissingEvidence& one : content.missing)
    text +=
        wrapped(one.reason.empty() ? fmt::format("  record {} would tell {}", one.option, one.tells)
                                   : fmt::format("  no {}: {}", one.what, printable(one.reason)),
                kHanging, content.width) +
        "\n";
  return text.empty() ? text : "\nnot recorded\n" + text;
}

}  // namespace

std::vector<MissingEvidence> missing_evidence(const model::Context& context, bool has_queues) {
  struct Family {
    const char* name;
    const char* tells;
  };
  constexpr std::array kFamilies = {
      Family{"sched", "whether a thread ran, wanted a CPU (and who had it) or slept"},
      Family{"irq", "what interrupted it"},
      Family{"syscalls", "which system call it waited in (every process of the machine pays)"},
      Family{"faults", "its page faults"}};
  std::vector<MissingEvidence> missing;
  for (const Family& family : kFamilies) {
    const auto known =
        std::ranges::find(context.families, family.name, &model::ContextFamily::name);
    if (known != context.families.end() && known->missing.empty()) continue;
    missing.push_back({.what = family.name,
                       .option = fmt::format("--context {}", family.name),
                       .tells = family.tells,
                       .reason = known == context.families.end() ? "" : known->missing});
  }
  if (!has_queues)
    missing.push_back({.what = "queues",
                       .option = "--queues",
                       .tells = "how deep the target's own queues were",
                       .reason = {}});
  return missing;
}

std::vector<std::string> main_causes(const CauseTotals& tally, const journeys::Topology& topology) {
  std::vector<std::string> words;
  std::uint64_t told = 0;
  for (const CauseTotals::Row& row : tally.rows()) {
    if (words.size() == kMaxCauses || row.packets == 0) break;
    told += row.packets;
    const std::string counted = count_label(row.cause.kind, row.mean_count());
    words.push_back(fmt::format("{} {}{}", percent(ratio(row.packets, tally.packets())),
                                label(row.cause, topology),
                                counted.empty() ? "" : fmt::format(" ({})", counted)));
  }
  if (told < tally.packets())
    words.push_back(
        fmt::format("{} other", percent(ratio(tally.packets() - told, tally.packets()))));
  return words;
}

std::string sentence(const Verdict& verdict, const CausesContent& content) {
  return sentence(verdict, content.names, content.topology);
}

std::string sentence(const Verdict& verdict, const causes::ContextNameTable& names,
                     const journeys::Topology& topology) {
  std::string text;
  std::size_t told = 0;
  std::uint64_t told_ns = 0;
  for (const LatencyPart& part : verdict.parts) {
    const bool is_small = ratio(part.ns, verdict.latency_ns()) < kWorthSaying;
    if (told == kMaxClauses || (told != 0 && is_small)) break;
    text += (told == 0 ? "" : "; ") + clause(part, names, topology);
    ++told;
    told_ns += part.ns;
  }
  if (told < verdict.parts.size())
    text += fmt::format(
        "; {} of {} smaller {}", duration(static_cast<double>(verdict.latency_ns() - told_ns)),
        verdict.parts.size() - told, verdict.parts.size() - told == 1 ? "part" : "parts");
  return text;
}

std::string causes_text(const CausesContent& content) {
  const causes::Explainer& found = content.found;
  const std::string target =
      content.target.name.empty() ? "unnamed target" : printable(content.target.name);
  const std::string whose =
      content.target.pid == 0 ? target : fmt::format("{}, pid {}", target, content.target.pid);
  const std::string which =
      content.where.empty() ? "" : fmt::format(" where {}", printable(content.where));
  const std::string first =
      found.complete() == 0 && found.at_one_point() != 0
          ? fmt::format("{}: no packet{} has a latency", whose, which)
      : found.complete() == 0
          ? fmt::format("{}: no packet{} is complete, so none took too long", whose, which)
          : fmt::format("{}: {} of {} complete packets{} took longer than {}", whose,
                        count(found.late()), count(found.complete()), which, limit(content));
  std::string text = wrapped(first, 2, content.width) + "\n";
  if (found.at_one_point() != 0)
    text +=
        wrapped(fmt::format("{} more {} seen at one point only: how long {} took is not known",
                            count(found.at_one_point()), found.at_one_point() == 1 ? "was" : "were",
                            found.at_one_point() == 1 ? "it" : "they"),
                2, content.width) +
        "\n";
  if (found.forgotten() != 0)
    text += fmt::format("{} of them began too long before their end to be explained\n",
                        count(found.forgotten()));
  text += causes_table(content) + dropped_table(content);
  if (!content.worst.empty()) text += "\nthe slowest\n";
  for (const Verdict& verdict : content.worst)
    text += wrapped(fmt::format("  {} {}{} (journey {}{}): {}",
                                duration(static_cast<double>(verdict.latency_ns())),
                                letter(verdict.direction), ids_text(content.schema, verdict.ids),
                                verdict.journey, verdict.is_ambiguous ? ", ambiguous" : "",
                                sentence(verdict, content)),
                    kHanging, content.width) +
            "\n";
  text += floors_text(content.fastest, content.topology);
  text += missing_text(content);
  if (!content.worst.empty())
    text += fmt::format("\nnext: sojourn journeys {} --worst {}\n", shell_word(content.path),
                        content.worst.size());
  return text;
}

}  // namespace sojourn::present
