#include "analysis/present/imports/import_text.h"

#include <fmt/format.h>

#include "analysis/base/count_text.h"

namespace sojourn::present {
namespace {

std::string clock_text(const latseq::FileSummary& file) {
  std::string text;
  if (file.cycle_stamps == 0) return text;
  text += fmt::format("  {} by the cycle counter, read by {}", counted(file.cycle_stamps, "time"),
                      counted(file.clock_lines, "clock line"));
  if (file.before_clock != 0)
    text += fmt::format("; {} before the first", grouped(file.before_clock));
  if (file.after_clock != 0) text += fmt::format("; {} after the last", grouped(file.after_clock));
  text +=
      fmt::format("{}\n", file.before_clock + file.after_clock != 0 ? ": by the nearest two" : "");
  return text;
}

// How times were made of cycles, their error bound, and the result of its check.
std::string clock_text(const xlap::FileSummary& file) {
  if (file.cycle_stamps == 0) return "";
  std::string text =
      fmt::format("  {} by the cycle counter, read by {}", counted(file.cycle_stamps, "time"),
                  counted(file.instants, "clock stamp"));
  text += file.bound_ns ? fmt::format(", within {} ns\n", grouped(*file.bound_ns))
                        : "; too few to say how far off they may be\n";
  if (file.checked != 0)
    text += fmt::format("  checked against {}: at most {} ns off, {} further than that\n",
                        counted(file.checked, "clock stamp"), grouped(file.furthest_ns),
                        file.bound_ns ? grouped(file.beyond_bound) : "none known to be");
  if (file.outside_instants != 0)
    text += fmt::format("  {} before the first or after the last clock stamp: by the nearest two\n",
                        grouped(file.outside_instants));
  if (file.odd_instants != 0)
    text += fmt::format("  {} left out: the clock went back\n",
                        counted(file.odd_instants, "clock stamp"));
  if (file.references_differ)
    text += fmt::format(
        "  the cycle reference and the time reference are two stamps, taken for one instant\n");
  return text;
}

double seconds_of(const imports::ImportedFile& file) {
  return static_cast<double>(file.last_ns - file.first_ns) / 1e9;
}

std::string common_text(const imports::ImportedFile& file) {
  std::string text;
  if (file.disordered != 0)
    text += fmt::format("  {} behind a later one: put in order of time\n",
                        counted(file.disordered, "event"));
  if (file.outside != 0)
    text += fmt::format("  {} left out: before or after what was recorded\n",
                        counted(file.outside, "event"));
  if (!file.failure.empty())
    text +=
        fmt::format("  reading ended early: {}: what came before is in the trace\n", file.failure);
  return text;
}

}  // namespace

std::string import_text(const latseq::FileSummary& file) {
  std::string text;
  text +=
      fmt::format("{}   {}: {} over {:.3f} s, {} skipped\n", file.path, counted(file.lines, "line"),
                  counted(file.events, "event"), seconds_of(file), grouped(file.skipped_lines()));
  for (std::size_t i = 0; i < latseq::kSkips; ++i)
    if (const auto& [count, first_line] = file.skipped[i]; count != 0)
      text += fmt::format("  skipped {}: {}, first in line {}\n", grouped(count),
                          latseq::words(static_cast<latseq::Skip>(i)), grouped(first_line));
  if (file.fields_left_out.count != 0)
    text += fmt::format(
        "  {} left out of events: no name, no number or too many, first in line {}\n",
        counted(file.fields_left_out.count, "field"), grouped(file.fields_left_out.first_line));
  if (file.unended)
    text += fmt::format(
        "  the last line has no line end: it is read as others like it; its last number may be "
        "cut\n");
  text += clock_text(file);
  return text + common_text(file);
}

std::string import_text(const oai_t::FileSummary& file) {
  std::string text;
  text += fmt::format("{}   {}: {} over {:.3f} s, {} skipped\n", file.path,
                      counted(file.records, "record"), counted(file.events, "event"),
                      seconds_of(file), grouped(file.unlisted + file.malformed));
  if (file.unlisted != 0)
    text += fmt::format("  skipped {}: of no message of the recording's list\n",
                        grouped(file.unlisted));
  if (file.malformed != 0)
    text += fmt::format("  skipped {}: their contents do not match the list\n",
                        grouped(file.malformed));
  return text + common_text(file);
}

std::string import_text(const event_json::FileSummary& file) {
  std::string text;
  text += fmt::format("{}   {}: {} over {:.3f} s, {} skipped\n", file.path,
                      counted(file.objects, "object"), counted(file.events, "event"),
                      seconds_of(file), grouped(file.other + file.malformed));
  if (file.other != 0)
    text += fmt::format("  skipped {}: neither spans nor instants\n", grouped(file.other));
  if (file.malformed != 0)
    text += fmt::format("  skipped {}: without a name, a time or a duration\n",
                        grouped(file.malformed));
  if (file.dated_by_file)
    text += fmt::format(
        "  its events have the time of day; the date is that of the file's last change\n");
  return text + common_text(file);
}

std::string import_text(const xlap::FileSummary& file) {
  std::string text =
      fmt::format("{}   {}: {} of {} over {:.3f} s\n", file.path, file.source,
                  counted(file.events, "event"), counted(file.rows, "row"), seconds_of(file));
  text += clock_text(file);
  if (file.other_types != 0)
    text += fmt::format("  skipped {}: of no packet type of the xlap.yml\n",
                        counted(file.other_types, "row"));
  if (file.columns_left_out != 0)
    text += fmt::format("  {} left out: the xlap.yml says nothing of them\n",
                        counted(file.columns_left_out, "column"));
  if (file.durations_left_out != 0)
    text += fmt::format("  {} left out: between stamps of two tables\n",
                        counted(file.durations_left_out, "duration"));
  if (file.backwards != 0)
    text += fmt::format("  {} left out: they end before they start\n",
                        counted(file.backwards, "duration"));
  if (file.is_cut)
    text += fmt::format("  the last row has no end and is left out: it may be cut\n");
  return text + common_text(file);
}

std::string import_text(const hits::FileSummary& file) {
  std::string text;
  text +=
      fmt::format("{}   {}: {} over {:.3f} s, {} skipped\n", file.path, counted(file.lines, "line"),
                  counted(file.events, "event"), seconds_of(file), grouped(file.skipped_lines()));
  for (std::size_t at = 0; at < hits::kSkips; ++at)
    if (const auto& [count, first_line] = file.skipped.at(at); count != 0)
      text += fmt::format("  skipped {}: {}, first in line {}\n", grouped(count),
                          hits::words(static_cast<hits::Skip>(at)), grouped(first_line));
  if (file.lost != 0)
    text += fmt::format("  {} lost by the tracer, as it says\n", counted(file.lost, "event"));
  return text + common_text(file);
}

}  // namespace sojourn::present
