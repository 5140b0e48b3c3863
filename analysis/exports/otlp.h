// Journeys as traces of the OpenTelemetry protocol (OTLP). Each journey is a trace: its root is the
// packet, and its other spans are stays, repeats, and activities of a script. A repeat is linked to
// the earlier transmission. Packets that went on in one block are linked with each other, the later
// one to those that were written before.
//
// An Observer of the rebuild. Spans are written in batches, each of which stands alone; memory is
// that of a batch and of the last events that packets may share. One thread owns an OtlpTrace; its
// arguments must outlive it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "analysis/exports/field_columns.h"
#include "analysis/exports/journey_choice.h"
#include "analysis/exports/otlp_span.h"
#include "analysis/exports/output.h"
#include "analysis/exports/trace_names.h"
#include "analysis/journeys/journey.h"
#include "analysis/journeys/known_ids.h"
#include "analysis/journeys/topology.h"
#include "analysis/trace/reader.h"

namespace sojourn::exports {

class OtlpTrace : public journeys::Observer {
 public:
  static constexpr std::size_t kMaxSpans = 1000;            // of a batch
  static constexpr std::size_t kMaxLinks = 16;              // of a span
  static constexpr std::size_t kMaxSharedEvents = 1 << 16;  // remembered
  // Writes a batch of this number of spans.
  using WriteSpans = std::function<Result<void>(std::string_view bytes, std::size_t spans)>;

  // Null instead of a choice: all journeys are wanted. The trace must know the wall's time.
  OtlpTrace(const trace::Reader& reader, const journeys::Topology& topology,
            const TraceNames& names, const JourneyChoice* choice, OtlpEncode encode,
            WriteSpans write);

  bool wants_places() const override { return false; }
  void on_journey(const journeys::Journey& journey) override;

  Result<void> finish();
  bool is_good() const { return written_.has_value(); }
  std::uint64_t spans() const { return spans_written_; }
  std::uint64_t traces() const { return traces_; }

 private:
  // The journey that is being written.
  struct Current {
    OtlpTraceId trace;
    std::uint64_t spans = 0;
    std::uint64_t start_ns = 0;
    std::uint64_t start_unix_ns = 0;
    std::vector<std::uint64_t> ended_by;   // by step: the span that it ended; 0: none
    std::vector<std::uint64_t> linked_to;  // low halves of the traces that it shares a block with
  };
  using EventKey = std::pair<std::uint32_t, std::uint64_t>;  // a stream, and which event of it
  struct SharedSpan {
    OtlpTraceId trace;
    std::uint64_t span = 0;
  };

  OtlpAttributes about_trace() const;
  bool is_chosen(const journeys::Journey& journey) const;
  void begin(const journeys::Journey& journey);
  std::uint64_t span_id(std::uint64_t number) const;
  std::uint64_t root_id() const { return span_id(0); }
  OtlpSpan new_span(std::string name, std::uint64_t begin_ns, std::uint64_t end_ns);
  void add_root(const journeys::Journey& journey);
  void add_stay(const journeys::Step& from, const journeys::Step& to, std::size_t ended_by);
  void add_inside(const journeys::Step& step, std::uint16_t place, std::uint64_t until_ns);
  void add_repeat(const journeys::Journey& journey, std::size_t at);
  void add_meanwhile(const journeys::Meanwhile& made);
  void add_step(OtlpSpan& span, const journeys::Step& from);
  void add_thread(OtlpSpan& span, std::uint32_t tid);
  void add_fields(OtlpSpan& span, model::PointId point, std::span<const std::uint64_t> values);
  void link_to_sharers(OtlpSpan& span, const journeys::Step& step);
  void keep(OtlpSpan span);
  void write_batch();

  const trace::Reader& reader_;
  const journeys::Topology& topology_;
  const TraceNames& names_;
  const JourneyChoice* choice_;
  OtlpEncode encode_;
  WriteSpans write_;
  Result<void> written_;
  journeys::PacketNames packet_names_;
  FieldColumns ids_;
  FieldColumns fields_;
  std::vector<Cell> cells_;
  std::vector<std::string> points_;
  OtlpAttributes resource_;
  std::uint64_t base_;
  Current current_;
  std::vector<OtlpSpan> spans_;
  std::map<EventKey, std::vector<SharedSpan>> shared_;
  std::deque<EventKey> shared_order_;  // the oldest first
  std::uint64_t spans_written_ = 0;
  std::uint64_t traces_ = 0;
};

}  // namespace sojourn::exports
