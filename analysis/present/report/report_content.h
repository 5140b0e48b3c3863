// The output of `sojourn report`: a text for people and an object for programs, from a summary of
// the journeys and the trace's description of its making. docs/journeys.md explains each figure.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "analysis/base/result.h"
#include "analysis/causes/cause_totals.h"
#include "analysis/context/thread_times.h"
#include "analysis/energy/energy_account.h"
#include "analysis/journeys/rebuilder.h"
#include "analysis/model/capture_info.h"
#include "analysis/profile/sampled_work.h"
#include "analysis/report/activities.h"
#include "analysis/report/summary.h"
#include "analysis/report/target_spans.h"
#include "analysis/report/trace_extras.h"
#include "analysis/statistics/distribution.h"
#include "analysis/threads/thread_survey.h"
#include "analysis/trace/completeness.h"

namespace sojourn::present {

// Facts besides journeys. The referenced objects must outlive the report.
struct Facts {
  const std::string& path;
  const model::Schema& schema;
  const std::vector<model::Target>& targets;  // one at least
  const model::Host& host;
  const model::Capture& capture;
  const model::Ledger& ledger;
  trace::Completeness file = {};  // as it is known when all was read
};

// A report of some of the journeys, or of some events where those are counted.
struct ReportSelection {
  std::string where;
  std::uint64_t kept = 0;
  std::uint64_t seen = 0;
  std::uint64_t from_ns = 0;  // outside of this time nothing is kept
  std::uint64_t until_ns = UINT64_MAX;
  bool of_events = false;

  const char* things() const { return of_events ? "events" : "journeys"; }
};
// "only the 3 of 10 journeys where dir == U"
std::string selection_text(const ReportSelection& selection);
nlohmann::ordered_json selection_json(const ReportSelection& selection);

// A report of events as a script left them.
struct ReportScript {
  std::string name;
  std::uint64_t kept = 0;
  std::uint64_t seen = 0;  // of the target
};

struct ReportContent {
  const Facts& facts;
  const journeys::Topology& topology;
  const journeys::Totals& totals;
  const report::Summary& summary;
  std::optional<ReportSelection> selection = std::nullopt;  // unset: all
  const context::ThreadTimes* context = nullptr;            // if the trace has kernel context
  const profile::SampledWork* work = nullptr;               // if it has perf events
  std::map<std::uint32_t, std::string> thread_names = {};
  const causes::CauseTotals* late = nullptr;  // of the slowest, if the trace has evidence
  std::optional<std::uint64_t> deadline_ns = std::nullopt;
  // Set for a trace without points that has threads.
  const threads::ThreadSurvey* threads = nullptr;
  const report::TargetSpans* spans = nullptr;  // if the target timed its own work
  std::optional<ReportScript> script = std::nullopt;
  const report::Activities* activities = nullptr;  // if a script makes some
  const energy::EnergyFigures* joules = nullptr;   // if energy was read
  std::size_t width = SIZE_MAX;                    // of the terminal
  bool is_raw = false;                             // times are shown with what tracing took

  // Adds the parts of a report beside its journeys; the content points into `extras`.
  void add(const report::TraceExtras& extras);

  double duration_s() const;
  // The part of the time that a selection leaves. Rates refer to it.
  double selected_s() const;
};

std::string report_text(const ReportContent& content, bool all_points);
nlohmann::ordered_json report_json(const ReportContent& content);

}  // namespace sojourn::present
