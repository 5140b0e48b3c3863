#include "analysis/present/imports/import_json.h"

#include <utility>

#include <nlohmann/json.hpp>

namespace sojourn::present {

using nlohmann::json;

namespace {

json file_json(const latseq::FileSummary& file) {
  json skipped = json::object();
  for (std::size_t i = 0; i < latseq::kSkips; ++i)
    if (const auto& [count, first_line] = file.skipped[i]; count != 0)
      skipped[latseq::key(static_cast<latseq::Skip>(i))] = {
          {"count", count},
          {"first_line", first_line},
          {"why", latseq::words(static_cast<latseq::Skip>(i))}};
  return {{"lines", file.lines},
          {"headers", file.headers},
          {"blank", file.blank},
          {"clock_lines", file.clock_lines},
          {"skipped", std::move(skipped)},
          {"fields_left_out", file.fields_left_out.count},
          {"unended", file.unended},
          {"cycle_stamps", file.cycle_stamps},
          {"before_clock", file.before_clock},
          {"after_clock", file.after_clock}};
}

json file_json(const oai_t::FileSummary& file) {
  return {{"records", file.records},
          {"list_records", file.list_records},
          {"skipped", {{"unlisted", file.unlisted}, {"malformed", file.malformed}}}};
}

json file_json(const event_json::FileSummary& file) {
  return {{"objects", file.objects},
          {"skipped", {{"other", file.other}, {"malformed", file.malformed}}},
          {"began_ns", file.began_ns},
          {"dated_by_file", file.dated_by_file}};
}

json file_json(const xlap::FileSummary& file) {
  return {{"source", file.source},
          {"rows", file.rows},
          {"skipped", {{"other_types", file.other_types}}},
          {"columns_left_out", file.columns_left_out},
          {"durations_left_out", file.durations_left_out},
          {"durations_backwards", file.backwards},
          {"cycle_stamps", file.cycle_stamps},
          {"outside_instants", file.outside_instants},
          {"instants", file.instants},
          {"instants_left_out", file.odd_instants},
          {"references_differ", file.references_differ},
          {"bound_ns", file.bound_ns ? json(*file.bound_ns) : json(nullptr)},
          {"checked", file.checked},
          {"furthest_ns", file.furthest_ns},
          {"beyond_bound", file.beyond_bound},
          {"unended", file.is_cut}};
}

json file_json(const hits::FileSummary& file) {
  json skipped = json::object();
  for (std::size_t at = 0; at < hits::kSkips; ++at)
    if (const auto& [count, first_line] = file.skipped.at(at); count != 0) {
      const auto why = static_cast<hits::Skip>(at);
      skipped[std::string(hits::key(why))] = {
          {"count", count}, {"first_line", first_line}, {"why", hits::words(why)}};
    }
  return {{"lines", file.lines},
          {"other", file.other},
          {"lost", file.lost},
          {"skipped", std::move(skipped)}};
}

template <typename File>
json summary_json(const imports::Summary<File>& summary, const std::string& trace,
                  std::uint64_t bytes) {
  json files = json::array();
  for (const auto& file : summary.files) {
    json one = file_json(file);
    one.update({{"file", file.path},
                {"events", file.events},
                {"outside", file.outside},
                {"disordered", file.disordered},
                {"first_ns", file.first_ns},
                {"last_ns", file.last_ns},
                {"failure", file.failure}});
    files.push_back(std::move(one));
  }
  return {{"trace", trace},
          {"bytes", bytes},
          {"events", summary.events()},
          {"points", summary.points},
          {"files", std::move(files)}};
}

}  // namespace

json import_json(const imports::Summary<latseq::FileSummary>& summary, const std::string& trace,
                 std::uint64_t bytes) {
  return summary_json(summary, trace, bytes);
}

json import_json(const imports::Summary<oai_t::FileSummary>& summary, const std::string& trace,
                 std::uint64_t bytes) {
  return summary_json(summary, trace, bytes);
}

json import_json(const imports::Summary<event_json::FileSummary>& summary, const std::string& trace,
                 std::uint64_t bytes) {
  return summary_json(summary, trace, bytes);
}

json import_json(const imports::Summary<xlap::FileSummary>& summary, const std::string& trace,
                 std::uint64_t bytes) {
  return summary_json(summary, trace, bytes);
}

json import_json(const imports::Summary<hits::FileSummary>& summary, const std::string& trace,
                 std::uint64_t bytes) {
  return summary_json(summary, trace, bytes);
}

}  // namespace sojourn::present
