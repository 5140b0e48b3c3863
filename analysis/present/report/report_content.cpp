#include "analysis/present/report/report_content.h"

#include <algorithm>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "analysis/present/words/text_format.h"

namespace sojourn::present {

namespace {

struct Extent {
  std::uint64_t begin_ns = 0;
  std::uint64_t end_ns = 0;

  double seconds() const {
    return end_ns > begin_ns ? static_cast<double>(end_ns - begin_ns) / 1e9 : 0;
  }
};

Extent extent_of(const ReportContent& content) {
  const model::Capture& capture = content.facts.capture;
  return {.begin_ns = capture.open_ns != 0 ? capture.open_ns : content.totals.first_ns,
          .end_ns = capture.close_ns != 0 ? capture.close_ns : content.totals.last_ns};
}

}  // namespace

std::string selection_text(const ReportSelection& selection) {
  return fmt::format("only the {} of {} {} where {}", count(selection.kept), count(selection.seen),
                     selection.things(), printable(selection.where));
}

nlohmann::ordered_json selection_json(const ReportSelection& selection) {
  return {{"expression", selection.where},
          {selection.things(), selection.kept},
          {"of", selection.seen}};
}

void ReportContent::add(const report::TraceExtras& extras) {
  context = extras.context();
  work = extras.work();
  spans = extras.spans();
  joules = extras.energy();
  activities = extras.activities();
  threads = extras.threads();
  thread_names = extras.thread_names();
}

double ReportContent::duration_s() const {
  return extent_of(*this).seconds();
}

double ReportContent::selected_s() const {
  Extent extent = extent_of(*this);
  if (selection) {
    extent.begin_ns = std::max(extent.begin_ns, selection->from_ns);
    // Its last nanosecond belongs to it.
    if (selection->until_ns < extent.end_ns) extent.end_ns = selection->until_ns + 1;
  }
  return extent.seconds();
}

}  // namespace sojourn::present
