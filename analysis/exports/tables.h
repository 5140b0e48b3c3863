// The tables that an export makes of a trace: the columns of each, and the classes that write their
// rows. Each writes through a RowWriter. The writer, the reader and the topology must outlive it.
// Memory does not grow with the trace. One thread owns a table. docs/exports.md describes the
// columns.
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <unordered_map>
#include <utility>
#include <vector>

#include "analysis/causes/cause_totals.h"
#include "analysis/causes/context_name_table.h"
#include "analysis/causes/verdict.h"
#include "analysis/exports/field_columns.h"
#include "analysis/exports/rows.h"
#include "analysis/exports/trace_names.h"
#include "analysis/journeys/journey.h"
#include "analysis/journeys/known_ids.h"
#include "analysis/journeys/topology.h"
#include "analysis/model/event.h"
#include "analysis/trace/reader.h"

namespace sojourn::exports {

// Columns that a table always has, and behind them those of its fields. After the writer's first
// error, which is kept, no rows are written.
class Table {
 public:
  Table(RowWriter& rows, std::vector<Column> columns, FieldColumns fields);

  const std::vector<Column>& columns() const { return columns_; }
  const FieldColumns& fields() const { return fields_; }
  Result<void> begin() { return rows_.begin(columns_); }
  bool is_good() const { return written_.has_value(); }
  bool has_rows() const { return has_rows_; }
  // Call it after the reader was read to its end: notes what the trace lacks.
  Result<void> finish(const trace::Reader& reader);

  // The cells of a new row; those of fields are empty. Valid until the next row is begun.
  std::span<Cell> new_row();
  std::span<Cell> field_cells() { return std::span(cells_).subspan(own_); }
  void write_row();

 private:
  RowWriter& rows_;
  std::size_t own_;  // columns that are not of fields
  FieldColumns fields_;
  std::vector<Column> columns_;
  std::vector<Cell> cells_;
  Result<void> written_;
  bool has_rows_ = false;
};

// Every event.
class EventTable {
 public:
  EventTable(const trace::Reader& reader, const TraceNames& names, RowWriter& rows);
  Table& table() { return table_; }
  void add(const model::EventView& event);

 private:
  const model::Schema& schema_;
  const TraceNames& names_;
  std::vector<std::string> points_;  // by point
  Table table_;
};

// A sample of a queue's counters each.
class QueueTable {
 public:
  QueueTable(const trace::Reader& reader, const TraceNames& names, RowWriter& rows);
  Table& table() { return table_; }
  // Events that are no samples are passed over.
  void add(const model::EventView& event);

 private:
  const model::Schema& schema_;
  const TraceNames& names_;
  std::unordered_map<std::uint64_t, std::pair<std::string, model::QueueInfo>> queues_;
  Table table_;
};

// A journey a row.
class JourneyTable : public journeys::Observer {
 public:
  JourneyTable(const trace::Reader& reader, const TraceNames& names, RowWriter& rows);
  Table& table() { return table_; }
  bool wants_places() const override { return false; }
  void on_journey(const journeys::Journey& journey) override;

 private:
  const model::Schema& schema_;
  const TraceNames& names_;
  journeys::PacketNames packet_names_;
  std::vector<std::string> points_;
  Table table_;
};

// A row for each stay of a journey's units in a place, up to the event by which the unit left, or
// to the end of the capture.
class HopTable : public journeys::Observer {
 public:
  HopTable(const trace::Reader& reader, const journeys::Topology& topology, const TraceNames& names,
           RowWriter& rows);
  Table& table() { return table_; }
  bool wants_places() const override { return false; }
  void on_journey(const journeys::Journey& journey) override;

 private:
  void add_inside(const journeys::Journey& journey, const journeys::Step& step);

  const journeys::Topology& topology_;
  const TraceNames& names_;
  std::vector<std::string> points_;
  Table table_;
};

// The number of units in a place between points: a row at each change.
class InFlightTable : public journeys::Observer {
 public:
  InFlightTable(const journeys::Topology& topology, const TraceNames& names, RowWriter& rows);
  Table& table() { return table_; }
  bool wants_steps() const override { return false; }
  void on_enter(std::uint16_t place, std::uint64_t ts_ns) override;
  void on_leave(std::uint16_t place, std::uint64_t entered_ns, std::uint64_t ts_ns,
                bool seen) override;

 private:
  void add(std::uint16_t place, std::uint64_t ts_ns, bool was_given_up);

  const journeys::Topology& topology_;
  const TraceNames& names_;
  std::vector<std::uint64_t> depths_;
  Table table_;
};

// The parts of each late packet's time, a row each, the longest first.
class CauseTable {
 public:
  CauseTable(const trace::Reader& reader, const journeys::Topology& topology,
             const causes::ContextNameTable& contexts, const TraceNames& names, RowWriter& rows);
  Table& table() { return table_; }
  void add(const causes::Verdict& verdict);

 private:
  const journeys::Topology& topology_;
  const causes::ContextNameTable& contexts_;
  const TraceNames& names_;
  Table table_;
};

}  // namespace sojourn::exports
