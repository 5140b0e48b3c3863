#include "userspace/cli/live/list/list_text.h"

#include <algorithm>
#include <string>
#include <utility>

#include <fmt/core.h>
#include <fmt/ranges.h>

#include "analysis/model/links.h"
#include "analysis/present/words/table.h"
#include "userspace/cli/terminal.h"
#include "userspace/tracee/procfs.h"

namespace sojourn::cli {

namespace {

using present::Table;
using tracee::printable;

std::string names_of(const model::Point& point, model::Role role) {
  std::string names;
  for (const model::Field& field : point.fields) {
    if (field.role != role || model::is_auxiliary_field(field.name)) continue;
    if (!names.empty()) names += '.';
    names += field.name;
  }
  return names.empty() ? "-" : printable(names);
}

void print_points(const tracee::Points& points) {
  if (points.schema.points.empty()) return;
  const auto counts = count_sites(points);
  Table table(
      {"dir", "point", "properties", "global ids", "local ids", "sites", "engines", "file"});
  for (const std::size_t words : {1U, 2U, 3U, 4U, 6U, 7U}) table.left(words);
  table.spare(7);
  table.spare(6);
  for (std::size_t id = 0; id < counts.size(); ++id) {
    const model::Point& point = points.schema.points[id];
    table.row({std::string(1, model::letter(point.direction)), printable(point.name()),
               names_of(point, model::Role::kProperty), names_of(point, model::Role::kGlobal),
               names_of(point, model::Role::kLocal),
               std::to_string(std::max(counts[id].sites, counts[id].ring_sites)),
               fmt::format("{}", fmt::join(counts[id].engines(), " ")), printable(point.file)});
  }
  fmt::print("{}", table.text(line_width()));
}

std::string executed(const coarse::MappedSite& mapped, const tracee::Site& site) {
  std::string how = site.is_stepped ? "single step" : "emulated";
  if (mapped.probe == coarse::Probe::kReturn) how += ", uretprobe";
  return how;
}

// Prints the places of probes in a map's functions, and the cost of each.
void print_mapped(const Listed& listed) {
  if (listed.found.mapped.empty()) return;
  fmt::print("\n");
  Table table({"function", "at", "instruction", "executed", "a hit", "point"});
  for (const std::size_t words : {1U, 2U, 3U, 5U}) table.left(words);
  table.spare(2);
  table.spare(3);
  for (std::size_t index = 0; index < listed.found.mapped.size(); ++index) {
    const coarse::MappedSite& mapped = listed.found.mapped[index];
    const tracee::Site& site = listed.points().sites[mapped.site];
    table.row({mapped.function, mapped.place(), mapped.instruction, executed(mapped, site),
               listed.hit_ns.empty()
                   ? "?"
                   : fmt::format("{:.2f} us", static_cast<double>(listed.hit_ns[index]) / 1000),
               printable(listed.points().schema.points[site.point].name())});
  }
  fmt::print("{}", table.text(line_width()));
}

void print_foreign(const tracee::Points& points) {
  if (points.foreign.empty()) return;
  if (!points.schema.points.empty()) fmt::print("\n");
  Table table({"other USDT probe", "sites", "arguments", "file"});
  table.left(2);
  table.left(3);
  table.fold(2);
  for (const auto& [key, sites] : count_foreign(points)) {
    const auto& [file, probe, arguments] = key;
    table.row({printable(probe), std::to_string(sites),
               arguments.empty() ? "-" : printable(arguments), printable(file)});
  }
  fmt::print("{}", table.text(line_width()));
}

// "pdcp 0"; "" if it is not known.
std::string side_of(const capture::QueueSide& side) {
  std::string text = printable(side.stage);
  if (side.instance >= 0) text += fmt::format("{}{}", text.empty() ? "" : " ", side.instance);
  if (side.pid != 0) text += fmt::format(" in process {}", side.pid);
  return text.empty() ? "-" : text;
}

void print_queues(const capture::Queues& queues) {
  if (queues.queues.empty()) return;
  fmt::print("\n");
  Table table({"queue", "kind", "producer", "consumer", "group", "capacity", "in", "out", "depth"});
  for (const std::size_t words : {1U, 2U, 3U}) table.left(words);
  table.spare(4);
  table.spare(1);
  for (const capture::Queue& queue : queues.queues)
    table.row({printable(queue.name), std::string(queue.kind), side_of(queue.producer),
               side_of(queue.consumer), queue.group == 0 ? "-" : std::to_string(queue.group),
               queue.capacity == 0 ? "-" : std::to_string(queue.capacity),
               std::to_string(queue.counts.in), std::to_string(queue.counts.out),
               std::to_string(queue.counts.depth())});
  fmt::print("{}", table.text(line_width()));
}

}  // namespace

void print_tables(const Listed& listed, bool with_foreign) {
  print_points(listed.points());
  print_mapped(listed);
  if (with_foreign) print_foreign(listed.points());
  print_queues(listed.queues);
}

}  // namespace sojourn::cli
