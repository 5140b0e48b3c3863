#include "analysis/present/report/paste.h"

#include <algorithm>
#include <map>
#include <ranges>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "analysis/host/host_json.h"
#include "analysis/present/host/host_text.h"
#include "analysis/present/journeys/journey_text.h"
#include "analysis/present/words/completeness_words.h"
#include "analysis/present/words/text_format.h"

namespace sojourn::present {
namespace {

constexpr std::size_t kMaxTargets = 10;
// A packet in a thousand pieces has more events than anyone reads.
constexpr std::size_t kMaxLines = 80;

// A name from the target in a table's cell, quoted so that Markdown does not interpret it.
std::string code(std::string_view text) {
  std::string plain;
  for (const char c : printable(text)) {
    if (c == '|') plain += '\\';
    plain += c == '`' ? '\'' : c;
  }
  return plain.empty() ? "none" : fmt::format("`{}`", plain);
}

// A fenced block. Its fence is longer than any in the text, so the text cannot end it.
std::string fenced(std::string_view text) {
  std::size_t run = 0;
  std::size_t longest = 2;
  for (const char c : text) {
    run = c == '`' ? run + 1 : 0;
    longest = std::max(longest, run);
  }
  const std::string fence(longest + 1, '`');
  return fmt::format("{}text\n{}{}{}\n", fence, text, text.ends_with('\n') ? "" : "\n", fence);
}

std::string file_name(std::string_view path) {
  const auto slash = path.rfind('/');
  return std::string(slash == std::string_view::npos ? path : path.substr(slash + 1));
}

std::string losses(const ReportContent& content) {
  std::map<model::LossCause, std::uint64_t> sums;
  for (const auto& entry : content.facts.ledger)
    if (entry.count > 0) sums[entry.cause] += entry.count;
  std::vector<std::string> causes;
  causes.reserve(sums.size());
  for (const auto& [cause, sum] : sums)
    causes.push_back(fmt::format("{} {}", count(sum), model::name(cause)));
  const trace::Completeness& file = content.facts.file;
  const std::uint64_t lost = file.lost_or_missing();
  std::string text = lost > 0              ? count(lost)
                     : file.knows_losses() ? std::string("none")
                                           : std::string("not known");
  if (!causes.empty()) text += fmt::format(" ({})", fmt::join(causes, ", "));
  return text;
}

std::string recorder(const model::Capture& capture) {
  std::string text = fmt::format(
      "{}, {}", capture.tracer.empty() ? "unknown" : code(capture.tracer),
      capture.attach.empty() ? std::string(model::name(capture.engine)) : code(capture.attach));
  if (capture.sites > 0) text += fmt::format(", {} sites", capture.sites);
  return text;
}

std::string extent(const ReportContent& content) {
  const model::Capture& capture = content.facts.capture;
  std::string text = fmt::format("{}, {} events", duration(content.duration_s() * 1e9),
                                 count(content.totals.events));
  if (!capture.ended_by.empty()) text += ", ended by " + code(capture.ended_by);
  return text;
}

std::string facts(const ReportContent& content, const PasteInfo& words) {
  const Facts& facts = content.facts;
  std::string text = "| | |\n|---|---|\n";
  const auto row = [&](std::string_view name, std::string_view value) {
    text += fmt::format("| {} | {} |\n", name, value);
  };
  const model::Host& host = facts.host;
  row("kernel",
      host.kernel.empty() ? "not known" : code(fmt::format("{} {}", host.kernel, host.machine)));
  row("CPU", (host.cpu_model.empty() ? "not known" : code(host.cpu_model)) +
                 (host.cpus == 0 ? "" : fmt::format(", {} processors", host.cpus)));
  if (const auto measured = host::from_json(host.measured); measured)
    text += host_markdown_rows(*measured);
  row("recorded by", recorder(facts.capture));
  row("report by", words.reader);
  for (const model::Target& target : facts.targets | std::views::take(kMaxTargets))
    row("target", fmt::format("{}, build id {}", code(target.name), code(target.build_id)));
  if (facts.targets.size() > kMaxTargets)
    row("target", fmt::format("and {} more", facts.targets.size() - kMaxTargets));
  row("capture", extent(content));
  row("lost", losses(content));
  if (!facts.file.is_whole()) row("file", "not whole: " + lacking(facts.file));
  if (!words.rules.empty()) row("rules", words.rules);
  return text;
}

std::string shortened(const std::string& text) {
  std::size_t end = 0;
  for (std::size_t line = 0; line < kMaxLines; ++line) {
    end = text.find('\n', end);
    if (end == std::string::npos) return text;
    ++end;
  }
  const auto rest = std::ranges::count(text.substr(end), '\n');
  return rest == 0 ? text : fmt::format("{}  and {} more events\n", text.substr(0, end), rest);
}

}  // namespace

std::string to_markdown(const ReportContent& content, report::SlowestJourneys& worst,
                        const PasteInfo& words) {
  std::vector<model::Target> targets = content.facts.targets;
  for (model::Target& target : targets) target.exe = file_name(target.exe);
  const std::string path = file_name(content.facts.path);
  const Facts plain = {path,
                       content.facts.schema,
                       targets,
                       content.facts.host,
                       content.facts.capture,
                       content.facts.ledger,
                       content.facts.file};
  const ReportContent shown = {plain,
                               content.topology,
                               content.totals,
                               content.summary,
                               content.selection,
                               content.context,
                               content.work,
                               content.thread_names,
                               content.late,
                               content.deadline_ns};
  std::string text = "### Latency report\n\n" + facts(shown, words) + "\n";
  text += fenced(report_text(shown, false));
  for (const auto direction : {model::Direction::kDownlink, model::Direction::kUplink})
    if (const auto* const slowest = worst.of(direction))
      text += fmt::format("\nSlowest packet, {}:\n\n{}",
                          direction == model::Direction::kDownlink ? "downlink" : "uplink",
                          fenced(shortened(journey_text(*slowest, content.facts.schema,
                                                        content.facts.capture.hosts))));
  return text;
}

}  // namespace sojourn::present
