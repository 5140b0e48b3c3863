// Causes for programs. Keys are stable; docs/explain.md lists them.
#include <utility>

#include <nlohmann/json.hpp>

#include "analysis/present/causes/cause_labels.h"
#include "analysis/present/causes/causes_content.h"
#include "analysis/present/words/field_text.h"

namespace sojourn::present {

using causes::CauseKind;
using causes::CauseTotals;
using causes::LatencyPart;
using causes::Verdict;
using nlohmann::ordered_json;

namespace {

ordered_json part_json(const LatencyPart& part, const CausesContent& content) {
  const auto known = [](std::int64_t value) {
    return value < 0 ? ordered_json(nullptr) : ordered_json(value);
  };
  const causes::ContextNameTable& names = content.names;
  ordered_json object = {{"cause", causes::name(part.kind)},
                         {"at", content.topology.places[part.place].name},
                         {"ns", part.ns},
                         {"begin_ns", part.begin_ns},
                         {"end_ns", part.end_ns},
                         {"tid", part.tid},
                         {"thread", part.tid == 0 ? "" : names.thread(part.tid)}};
  switch (part.kind) {
    case CauseKind::kQueue:
      object["ahead"] = part.count;
      object["of_flow"] = part.of_flow;
      object["at_least"] = part.is_lower_bound;
      object["sampled_depth"] = known(part.sampled);
      break;
    case CauseKind::kSlot:
      object["slot"] = known(part.number);
      object["slots"] = part.count;
      break;
    case CauseKind::kCpu:
      object["cpu"] = part.cpu;
      object["by_tid"] = part.by;
      object["by"] = names.thread(part.by);
      object["preempted"] = part.was_running;
      break;
    case CauseKind::kBlocked:
      object["by_tid"] = part.by;
      object["by"] = part.by == 0 ? "" : names.thread(part.by);
      object["by_interrupt"] = part.by_interrupt;
      object["syscall"] = names.syscall(part.number);
      break;
    case CauseKind::kInterrupted:
      object["interrupt"] = names.interrupt(part.number, part.is_softirq);
      break;
    case CauseKind::kReordering:
      object["overtakers"] = part.count;
      break;
    case CauseKind::kReassembly:
      object["pieces"] = part.count;
      break;
    case CauseKind::kRetransmission:
      object["round"] = known(part.number);
      break;
    case CauseKind::kWork:
      object["page_faults"] = part.faults;
      break;
    case CauseKind::kHandover:
    case CauseKind::kBatching:
    case CauseKind::kUnknown:
      break;
  }
  return object;
}

ordered_json verdict_json(const Verdict& verdict, const CausesContent& content) {
  ordered_json parts = ordered_json::array();
  for (const LatencyPart& part : verdict.parts) parts.push_back(part_json(part, content));
  ordered_json object = {
      {"id", verdict.journey},
      {"dir", std::string(1, letter(verdict.direction))},
      {"ids", values_json(content.schema.points[verdict.namesake], verdict.values, false)},
      {"start_ns", verdict.start_ns},
      {"end_ns", verdict.end_ns},
      {"latency_ns", verdict.latency_ns()},
      {"segments", verdict.segments},
      {"retransmissions", verdict.retransmissions},
      {"ambiguous", verdict.is_ambiguous},
      {"why", sentence(verdict, content)},
      {"parts", std::move(parts)}};
  if (are_from_elsewhere(verdict.namesake, verdict.ids))
    object["known_ids"] = ids_json(content.schema, verdict.ids);
  return object;
}

ordered_json row_json(const CauseTotals::Row& row, const CausesContent& content) {
  const journeys::Place& place = content.topology.places[row.cause.place];
  return {{"cause", causes::name(row.cause.kind)},
          {"dir", std::string(1, letter(place.direction))},
          {"at", place.name},
          {"thread", row.cause.thread},
          {"by", row.cause.by},
          {"in", row.cause.in},
          {"cpu", row.cause.cpu},
          {"round", row.cause.round},
          {"words", label(row.cause, content.topology)},
          {"packets", row.packets},
          {"share", ratio(row.packets, content.tally.packets())},
          {"mean_count", row.mean_count()},
          {"ns", row.ns}};
}

}  // namespace

ordered_json causes_json(const CausesContent& content) {
  const auto limit_json = [](std::uint64_t ns) {
    return ns == UINT64_MAX ? ordered_json(nullptr) : ordered_json(ns);
  };
  ordered_json rows = ordered_json::array();
  for (const CauseTotals::Row& row : content.tally.rows()) rows.push_back(row_json(row, content));
  ordered_json dropped = ordered_json::array();
  for (const auto& [point, packets] : content.found.dropped()) {
    const model::Point& at = content.schema.points[point];
    dropped.push_back({{"dir", std::string(1, letter(at.direction))},
                       {"at", at.src},
                       {"point", at.name()},
                       {"packets", packets}});
  }
  ordered_json missing = ordered_json::array();
  for (const MissingEvidence& one : content.missing)
    missing.push_back(
        {{"what", one.what}, {"option", one.option}, {"tells", one.tells}, {"reason", one.reason}});
  ordered_json worst = ordered_json::array();
  for (const Verdict& verdict : content.worst) worst.push_back(verdict_json(verdict, content));
  ordered_json all = {{"deadline_ns",
                       {{"D", limit_json(content.deadlines.down_ns)},
                        {"U", limit_json(content.deadlines.up_ns)},
                        {"given", content.was_given}}},
                      {"complete", content.found.complete() + content.found.at_one_point()},
                      {"at_one_point", content.found.at_one_point()},
                      {"late", content.found.late()},
                      {"forgotten", content.found.forgotten()},
                      {"late_ns", content.tally.ns()},
                      {"causes", std::move(rows)},
                      {"dropped", std::move(dropped)},
                      {"missing", std::move(missing)},
                      {"worst", std::move(worst)}};
  if (!content.where.empty()) all["where"] = content.where;
  return all;
}

}  // namespace sojourn::present
