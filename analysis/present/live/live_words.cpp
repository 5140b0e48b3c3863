#include "analysis/present/live/live_words.h"

#include <cmath>

#include <fmt/format.h>

#include "analysis/base/printable.h"
#include "analysis/present/words/field_text.h"
#include "analysis/present/words/text_format.h"

namespace sojourn::present {

std::string elapsed_words(const live::Snapshot& snapshot) {
  const double s = snapshot.now_ns <= snapshot.open_ns
                       ? 0
                       : static_cast<double>(snapshot.now_ns - snapshot.open_ns) / 1e9;
  return fmt::format("{:.1f} s", s);
}

std::string loss_words(const live::Snapshot& snapshot) {
  std::string text = count(snapshot.lost) + " lost";
  std::string causes;
  for (const live::LossRow& row : snapshot.losses)
    causes += fmt::format("{}{} {}", causes.empty() ? "" : ", ", model::name(row.cause),
                          count(row.count));
  return causes.empty() ? text : fmt::format("{} ({})", text, causes);
}

std::vector<std::string> doubts(const live::Snapshot& snapshot) {
  std::vector<std::string> lines;
  if (snapshot.left_out != 0)
    lines.push_back(
        fmt::format("{} events came too late for these figures", count(snapshot.left_out)));
  if (snapshot.damaged != 0)
    lines.push_back(fmt::format("the trace is damaged at {} {}", count(snapshot.damaged),
                                snapshot.damaged == 1 ? "place" : "places"));
  if (!snapshot.script_error.empty())
    lines.push_back("script: " + printable(snapshot.script_error));
  if (snapshot.restarts != 0 && snapshot.script_error.empty())
    lines.push_back("points or processes came later: figures are of the time since then");
  return lines;
}

std::string sample_words(const live::Snapshot& snapshot) {
  if (!snapshot.sample) return "";
  return fmt::format("only {} of {} UEs ({} of events)", count(snapshot.sample->owners),
                     count(snapshot.sample->of), percent(snapshot.sample->events_share));
}

std::vector<std::string> cost_words(const live::Snapshot& snapshot) {
  std::vector<std::string> parts;
  if (snapshot.cost_share)
    parts.push_back(
        fmt::format("tracing takes {} of the target's CPU", percent(*snapshot.cost_share)));
  if (snapshot.tracer_cores)
    parts.push_back(fmt::format("capture {} of a core", percent(*snapshot.tracer_cores)));
  if (snapshot.view_cores)
    parts.push_back(fmt::format("view {} of a core", percent(*snapshot.view_cores)));
  return parts;
}

std::string span_words(const live::Snapshot& snapshot, bool since_start) {
  const double span_s = since_start ? snapshot.since_s : snapshot.window_s;
  const std::string span = span_s < 1 ? duration(span_s * 1e9) : fmt::format("{:.0f} s", span_s);
  if (!since_start) return "last " + span;
  return snapshot.filter.empty() ? "since the start, " + span : "since it was chosen, " + span;
}

std::string packet_words(const live::Snapshot& snapshot, const causes::Verdict& verdict) {
  const std::string ids = ids_text(*snapshot.schema, verdict.ids);
  return ids.empty() ? fmt::format("journey {}", verdict.journey) : ids.substr(1);
}

}  // namespace sojourn::present
