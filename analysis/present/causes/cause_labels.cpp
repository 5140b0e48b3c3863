#include "analysis/present/causes/cause_labels.h"

#include <algorithm>
#include <cmath>
#include <string_view>

#include <fmt/format.h>

#include "analysis/present/words/text_format.h"

namespace sojourn::present {

using causes::Cause;
using causes::CauseKind;
using causes::LatencyPart;

namespace {

bool is_sleep(std::string_view call) {
  return call.contains("nanosleep");
}

std::string others(std::uint64_t count) {
  return count == 1 ? "1 other" : fmt::format("{} others", present::count(count));
}

// A wait in a queue: the number ahead, and how fast they were served.
std::string queue_clause(const LatencyPart& part, const std::string& took, const std::string& place,
                         const std::string& thread) {
  if (part.count == 0)
    return fmt::format(
        "{} in {} while {} was busy{}", took, place, thread,
        part.is_lower_bound ? ", maybe with what came before the trace" : " elsewhere");
  std::string text =
      fmt::format("{} in {} behind {}{}{}", took, place, part.is_lower_bound ? "at least " : "",
                  others(part.count), part.of_flow ? " of its flow" : "");
  if (!part.is_paced && part.tid != 0 && !part.is_lower_bound)
    text += fmt::format(", {} for each by {}",
                        duration(static_cast<double>(part.ns) / static_cast<double>(part.count)),
                        thread);
  if (part.sampled >= 0)
    text += fmt::format(" (sampled: up to {})", count(static_cast<std::uint64_t>(part.sampled)));
  return text;
}

std::string cpu_clause(const LatencyPart& part, const std::string& took, const std::string& place,
                       const causes::ContextNameTable& names) {
  const std::string thread = printable(names.thread(part.tid));
  const std::string cpu = part.cpu < 0 ? "its CPU" : fmt::format("cpu {}", part.cpu);
  if (part.by == 0) return fmt::format("{} until {} woke up on {} in {}", took, thread, cpu, place);
  const std::string by = printable(names.other(part.by, part.tid));
  if (part.was_running)
    return fmt::format("{} in {} while {} was preempted by {} on {}", took, place, thread, by, cpu);
  return fmt::format("{} in {} while {} waited for {}, which {} had", took, place, thread, cpu, by);
}

std::string blocked_clause(const LatencyPart& part, const std::string& took,
                           const std::string& place, const causes::ContextNameTable& names) {
  const std::string thread = printable(names.thread(part.tid));
  const std::string call = printable(names.syscall(part.number));
  if (is_sleep(call)) return fmt::format("{} in {} while {} slept ({})", took, place, thread, call);
  const std::string in = call.empty() ? "" : fmt::format(" in {}", call);
  if (part.by != 0) {
    const std::string by = printable(names.other(part.by, part.tid));
    if (call == "futex")
      return fmt::format("{} in {} while {} waited for a lock or a signal of {} (futex)", took,
                         place, thread, by);
    return fmt::format("{} in {} while {} was blocked{} until {} woke it", took, place, thread, in,
                       by);
  }
  if (part.by_interrupt)
    return fmt::format("{} in {} while {} {}", took, place, thread,
                       call.empty() ? "slept or waited for a device"
                                    : fmt::format("waited in {} for a timer or a device", call));
  return fmt::format("{} in {} while {} was blocked{}", took, place, thread, in);
}

}  // namespace

double ratio(std::uint64_t part, std::uint64_t whole) {
  return whole == 0 ? 0 : static_cast<double>(part) / static_cast<double>(whole);
}

std::string place_label(std::uint16_t place, const journeys::Topology& topology) {
  const journeys::Place& known = topology.places[place];
  return fmt::format("{} {}", letter(known.direction), known.name);
}

std::string label(const Cause& cause, const journeys::Topology& topology) {
  const std::string place = place_label(cause.place, topology);
  const std::string thread = printable(cause.thread);
  const std::string by = printable(cause.by);
  const std::string in = printable(cause.in);
  switch (cause.kind) {
    case CauseKind::kWork:
      return fmt::format("work in {} ({})", place, thread);
    case CauseKind::kQueue:
      return fmt::format("queue {}", place);
    case CauseKind::kSlot:
      return fmt::format("slot or grant for {}", place);
    case CauseKind::kCpu:
      return fmt::format("{} kept from cpu {} by {}, {}", thread, cause.cpu, by, place);
    case CauseKind::kBlocked:
      if (is_sleep(in)) return fmt::format("{} slept in {} ({})", thread, place, in);
      return fmt::format("{} blocked in {}{}{}", thread, place, in.empty() ? "" : ", in " + in,
                         by.empty() ? "" : ", by " + by);
    case CauseKind::kInterrupted:
      return fmt::format("{} interrupted by {}, {}", thread, in, place);
    case CauseKind::kHandover:
      return fmt::format("{} had not handed it over, {}", thread, place);
    case CauseKind::kBatching:
      return fmt::format("held in {} by {}", place, thread);
    case CauseKind::kReordering:
      return fmt::format("order in {}", place);
    case CauseKind::kReassembly:
      return fmt::format("pieces that came later, {}", place);
    case CauseKind::kRetransmission:
      return cause.round >= 0 ? fmt::format("HARQ round {}, {}", cause.round, place)
                              : fmt::format("sent again, {}", place);
    case CauseKind::kUnknown:
      return thread.empty() ? fmt::format("not known, {}", place)
                            : fmt::format("with {}, {}", thread, place);
  }
  return {};
}

std::string count_label(CauseKind kind, double count) {
  if (kind != CauseKind::kQueue && kind != CauseKind::kSlot && kind != CauseKind::kReordering)
    return {};
  const auto rounded = static_cast<std::uint64_t>(std::llround(count));
  if (rounded == 0) return {};
  if (kind == CauseKind::kQueue) return fmt::format("{} ahead", present::count(rounded));
  if (kind == CauseKind::kReordering) return fmt::format("{} first", present::count(rounded));
  return fmt::format("{} {}", present::count(rounded), rounded == 1 ? "slot" : "slots");
}

std::string clause(const LatencyPart& part, const causes::ContextNameTable& names,
                   const journeys::Topology& topology) {
  const std::string took = duration(static_cast<double>(part.ns));
  const std::string& place = topology.places[part.place].name;
  const std::string thread = part.tid == 0 ? "its thread" : printable(names.thread(part.tid));
  switch (part.kind) {
    case CauseKind::kWork:
      return fmt::format("{} of work in {} by {}{}", took, place, thread,
                         part.faults == 0 ? "" : fmt::format(", with {} page faults", part.faults));
    case CauseKind::kQueue:
      return queue_clause(part, took, place, thread);
    case CauseKind::kSlot:
      return fmt::format("{} in {} waiting for {}{}", took, place,
                         part.number < 0 ? "a slot" : fmt::format("slot {}", part.number),
                         part.count > 1 ? fmt::format(", {} slots long", part.count) : "");
    case CauseKind::kCpu:
      return cpu_clause(part, took, place, names);
    case CauseKind::kBlocked:
      return blocked_clause(part, took, place, names);
    case CauseKind::kInterrupted:
      return fmt::format("{} in {} while {} was interrupted by {}", took, place, thread,
                         printable(names.interrupt(part.number, part.is_softirq)));
    case CauseKind::kHandover:
      return fmt::format("{} before {} handed it over in {}", took, thread, place);
    case CauseKind::kBatching:
      return fmt::format("{} in {} held by {}, which waited for more to come", took, place, thread);
    case CauseKind::kReordering:
      return fmt::format("{} in {} held for order: {} of its flow that came later had to go first",
                         took, place, present::count(part.count));
    case CauseKind::kReassembly:
      return fmt::format("{} in {} until the last of its {} pieces came", took, place, part.count);
    case CauseKind::kRetransmission:
      return part.number >= 0 ? fmt::format("{} in {} for HARQ round {}", took, place, part.number)
                              : fmt::format("{} in {} to be sent again", took, place);
    case CauseKind::kUnknown:
      return part.tid == 0
                 ? fmt::format("{} in {}, of which nothing is known", took, place)
                 : fmt::format("{} in {} with {}, which may have run or not", took, place, thread);
  }
  return {};
}

}  // namespace sojourn::present
