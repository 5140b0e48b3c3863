// Chrome's JSON trace events, for tools that read nothing else: journeys and their stays as
// asynchronous events, which may overlap. An Observer of the rebuild; its memory holds only the
// names that it has described. One thread owns a ChromeTrace; its arguments must outlive it.
#pragma once

#include <cstdint>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "analysis/exports/output.h"
#include "analysis/exports/trace_names.h"
#include "analysis/journeys/journey.h"
#include "analysis/journeys/topology.h"
#include "analysis/trace/reader.h"

namespace sojourn::exports {

class ChromeTrace : public journeys::Observer {
 public:
  ChromeTrace(const trace::Reader& reader, const journeys::Topology& topology,
              const TraceNames& names, Write write);

  bool wants_places() const override { return false; }
  void on_journey(const journeys::Journey& journey) override;
  // Activities and markers of a script.
  void consume(const model::EventBatch& events);
  Result<void> finish();
  bool is_good() const { return written_.has_value(); }

 private:
  void begin_event();
  void add_slice(std::string_view name, const journeys::Journey& journey, const journeys::Step& by,
                 std::uint64_t begin_ns, std::uint64_t end_ns);
  void add_stays(const journeys::Journey& journey);
  void describe(std::uint32_t stream, std::uint32_t tid);
  void add_made(const model::EventView& event);
  void write_if_long();

  const trace::Reader& reader_;
  const journeys::Topology& topology_;
  const TraceNames& names_;
  Write write_;
  Result<void> written_;
  std::string text_;
  bool is_first_ = true;
  std::uint64_t last_id_ = 0;
  std::vector<std::string> places_;    // as JSON texts
  std::size_t first_made_ = 0;         // point of a script; they are the last ones
  std::set<std::uint64_t> described_;  // threads, with their processes
};

}  // namespace sojourn::exports
