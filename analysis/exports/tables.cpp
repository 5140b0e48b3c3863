#include "analysis/exports/tables.h"

#include <algorithm>
#include <string>

#include "analysis/model/queue_info.h"
#include "analysis/trace/completeness.h"

namespace sojourn::exports {

namespace {

constexpr CellType kUnsigned = CellType::kUnsigned;
constexpr CellType kInteger = CellType::kInteger;
constexpr CellType kBool = CellType::kBool;
constexpr CellType kText = CellType::kText;

const std::vector<Column> kEventColumns = {
    {"t_ns", kUnsigned}, {"unix_ns", kUnsigned}, {"dir", kText},        {"point", kText},
    {"src", kText},      {"dest", kText},        {"tid", kUnsigned},    {"thread", kText},
    {"pid", kUnsigned},  {"cpu", kUnsigned},     {"stream", kUnsigned}, {"seq", kUnsigned}};

const std::vector<Column> kQueueColumns = {
    {"t_ns", kUnsigned}, {"unix_ns", kUnsigned}, {"queue", kText},        {"queue_id", kUnsigned},
    {"kind", kText},     {"depth", kUnsigned},   {"capacity", kUnsigned}, {"in", kUnsigned},
    {"out", kUnsigned},  {"slack", kUnsigned},   {"span_ns", kUnsigned},  {"gap_ns", kUnsigned},
    {"same", kUnsigned}};

const std::vector<Column> kJourneyColumns = {{"journey", kUnsigned},
                                             {"dir", kText},
                                             {"outcome", kText},
                                             {"start_ns", kUnsigned},
                                             {"end_ns", kUnsigned},
                                             {"latency_ns", kUnsigned},
                                             {"start_unix_ns", kUnsigned},
                                             {"last_ns", kUnsigned},
                                             {"last_out_ns", kUnsigned},
                                             {"ack_ns", kUnsigned},
                                             {"inside_ns", kUnsigned},
                                             {"headless", kBool},
                                             {"ambiguous", kBool},
                                             {"alternatives", kUnsigned},
                                             {"segments", kUnsigned},
                                             {"retransmissions", kUnsigned},
                                             {"harq_retransmissions", kUnsigned},
                                             {"drops", kUnsigned},
                                             {"events", kUnsigned},
                                             {"first_point", kText},
                                             {"last_point", kText}};

const std::vector<Column> kHopColumns = {{"journey", kUnsigned},     {"dir", kText},
                                         {"place", kText},           {"from_point", kText},
                                         {"to_point", kText},        {"entered_ns", kUnsigned},
                                         {"left_ns", kUnsigned},     {"stay_ns", kUnsigned},
                                         {"inside", kBool},          {"outcome", kText},
                                         {"entered_tid", kUnsigned}, {"entered_thread", kText},
                                         {"left_tid", kUnsigned},    {"left_thread", kText}};

const std::vector<Column> kInFlightColumns = {{"t_ns", kUnsigned},  {"unix_ns", kUnsigned},
                                              {"dir", kText},       {"place", kText},
                                              {"depth", kUnsigned}, {"given_up", kBool}};

const std::vector<Column> kCauseColumns = {{"journey", kUnsigned},
                                           {"dir", kText},
                                           {"start_ns", kUnsigned},
                                           {"end_ns", kUnsigned},
                                           {"latency_ns", kUnsigned},
                                           {"part", kUnsigned},
                                           {"cause", kText},
                                           {"place", kText},
                                           {"ns", kUnsigned},
                                           {"begin_ns", kUnsigned},
                                           {"end_part_ns", kUnsigned},
                                           {"tid", kUnsigned},
                                           {"thread", kText},
                                           {"by_tid", kUnsigned},
                                           {"by", kText},
                                           {"in", kText},
                                           {"cpu", kUnsigned},
                                           {"count", kUnsigned},
                                           {"number", kInteger},
                                           {"ambiguous", kBool}};

std::vector<std::string> point_names(const model::Schema& schema) {
  std::vector<std::string> names;
  names.reserve(schema.points.size());
  for (const model::Point& point : schema.points) names.push_back(point.name());
  return names;
}

std::string_view direction_text(model::Direction direction) {
  switch (direction) {
    case model::Direction::kDownlink:
      return "D";
    case model::Direction::kUplink:
      return "U";
    case model::Direction::kScalar:
      return "I";
    case model::Direction::kSync:
      return "S";
    case model::Direction::kContext:
      return "K";
    case model::Direction::kSample:
      return "Q";
    case model::Direction::kScript:
      return "A";
  }
  return "";
}

FieldColumns no_fields() {
  return {model::Schema(), "", {}};
}

// Writes cells one behind the other.
class RowCells {
 public:
  explicit RowCells(std::span<Cell> cells) : cells_(cells) {}

  RowCells& add(Cell cell) {
    cells_[at_++] = cell;
    return *this;
  }
  RowCells& number(std::uint64_t value) { return add(value); }
  RowCells& text(std::string_view value) { return add(value); }
  RowCells& number_if(bool is_there, std::uint64_t value) { return add(cell_if(is_there, value)); }
  RowCells& text_if_any(std::string_view value) { return add(cell_if(!value.empty(), value)); }

 private:
  std::span<Cell> cells_;
  std::size_t at_ = 0;
};

}  // namespace

Table::Table(RowWriter& rows, std::vector<Column> columns, FieldColumns fields)
    : rows_(rows),
      own_(columns.size()),
      fields_(std::move(fields)),
      columns_(std::move(columns)),
      cells_(own_ + fields_.columns().size()) {
  columns_.insert(columns_.end(), fields_.columns().begin(), fields_.columns().end());
}

Result<void> Table::finish(const trace::Reader& reader) {
  SJ_CHECK(std::move(written_));
  const auto whole = trace::completeness_of(reader);
  rows_.note("trace", reader.path().substr(reader.path().rfind('/') + 1));
  rows_.note("tracer", reader.capture().tracer);
  rows_.note("events_lost", std::to_string(whole.lost_or_missing()));
  rows_.note("is_whole", whole.is_whole() ? "yes" : "no");
  return rows_.finish();
}

std::span<Cell> Table::new_row() {
  std::ranges::fill(field_cells(), Cell());
  return cells_;
}

void Table::write_row() {
  has_rows_ = true;
  if (written_) written_ = rows_.row(cells_);
}

EventTable::EventTable(const trace::Reader& reader, const TraceNames& names, RowWriter& rows)
    : schema_(reader.schema()),
      names_(names),
      points_(point_names(schema_)),
      table_(rows, kEventColumns, FieldColumns(schema_, "field_", is_event_field)) {}

void EventTable::add(const model::EventView& event) {
  const model::Point& point = schema_.points[event.point];
  RowCells(table_.new_row())
      .number(event.ts_ns)
      .add(names_.unix_cell(event.ts_ns))
      .text(direction_text(point.direction))
      .text(points_[event.point])
      .text(point.src)
      .text_if_any(point.dest)
      .number(event.tid)
      .add(names_.thread_cell(event.tid))
      .add(names_.pid_cell(event.stream, event.tid))
      .add(names_.cpu_cell(event.stream))
      .number(event.stream)
      .number(event.seq);
  table_.fields().fill(event.point, event.values, table_.field_cells());
  table_.write_row();
}

QueueTable::QueueTable(const trace::Reader& reader, const TraceNames& names, RowWriter& rows)
    : schema_(reader.schema()), names_(names), table_(rows, kQueueColumns, no_fields()) {
  for (const model::QueueChange& change : reader.queue_changes())
    queues_[change.about.id] = {change.about.shown_name(), change.about};
}

void QueueTable::add(const model::EventView& event) {
  const auto sample = model::queue_sample(schema_, event);
  if (!sample) return;
  auto found = queues_.find(sample->queue);
  if (found == queues_.end()) {
    model::QueueInfo unknown;
    unknown.id = sample->queue;
    found = queues_.emplace(sample->queue, std::pair(unknown.shown_name(), unknown)).first;
  }
  const auto& [name, about] = found->second;
  RowCells(table_.new_row())
      .number(event.ts_ns)
      .add(names_.unix_cell(event.ts_ns))
      .text(name)
      .number(sample->queue)
      .text(model::name(about.kind))
      .number(sample->depth())
      .number_if(about.capacity != 0, about.capacity)
      .number(sample->in)
      .number(sample->out)
      .number(sample->slack)
      .number(sample->span_ns)
      .number(sample->gap_ns)
      .number(sample->same);
  table_.write_row();
}

JourneyTable::JourneyTable(const trace::Reader& reader, const TraceNames& names, RowWriter& rows)
    : schema_(reader.schema()),
      names_(names),
      packet_names_(schema_),
      points_(point_names(schema_)),
      table_(rows, kJourneyColumns, FieldColumns(schema_, "id_", is_id_field)) {}

void JourneyTable::on_journey(const journeys::Journey& journey) {
  if (!table_.is_good()) return;
  const bool has_steps = !journey.steps.empty();
  RowCells(table_.new_row())
      .number(journey.id)
      .text(direction_text(journey.direction))
      .text(name(journey.outcome))
      .number(journey.start_ns)
      .number(journey.end_ns)
      .number_if(journey.has_latency(), journey.latency_ns())
      .add(names_.unix_cell(journey.start_ns))
      .number(journey.last_ns)
      .number_if(journey.last_out_ns != 0, journey.last_out_ns)
      .number_if(journey.ack_ns != 0, journey.ack_ns)
      .number_if(journey.inside_until_ns != 0, journey.inside_until_ns - journey.start_ns)
      .add(journey.headless)
      .add(journey.ambiguous)
      .number(journey.alternatives)
      .number(journey.segments)
      .number(journey.retransmissions)
      .number(journey.harq_retransmissions)
      .number(journey.drops)
      .number(journey.steps.size())
      .text_if_any(has_steps ? points_[journey.steps.front().point] : std::string_view())
      .text_if_any(has_steps ? points_[journey.steps.back().point] : std::string_view());
  table_.fields().fill(packet_names_.of(journey), table_.field_cells());
  table_.write_row();
}

HopTable::HopTable(const trace::Reader& reader, const journeys::Topology& topology,
                   const TraceNames& names, RowWriter& rows)
    : topology_(topology),
      names_(names),
      points_(point_names(reader.schema())),
      table_(rows, kHopColumns, no_fields()) {}

void HopTable::on_journey(const journeys::Journey& journey) {
  if (!table_.is_good()) return;
  for (const journeys::Step& step : journey.steps) {
    if (journey.inside_until_ns != 0 && step.inside) add_inside(journey, step);
    if (step.repeat_of != journeys::kNoStep) continue;
    for (const std::uint32_t parent : step.parents) {
      const journeys::Step& from = journey.steps[parent];
      const auto place = topology_.pair(from.point, step.point).place;
      RowCells(table_.new_row())
          .number(journey.id)
          .text(direction_text(journey.direction))
          .text(topology_.places[place].name)
          .text(points_[from.point])
          .text(points_[step.point])
          .number(from.entered_ns)
          .number(step.ts_ns)
          .number(step.ts_ns - from.entered_ns)
          .add(false)
          .text(name(journey.outcome))
          .number(from.tid)
          .add(names_.thread_cell(from.tid))
          .number(step.tid)
          .add(names_.thread_cell(step.tid));
      table_.write_row();
    }
  }
}

void HopTable::add_inside(const journeys::Journey& journey, const journeys::Step& step) {
  const auto place = topology_.points[step.point].place;
  RowCells(table_.new_row())
      .number(journey.id)
      .text(direction_text(journey.direction))
      .text_if_any(place ? std::string_view(topology_.places[*place].name) : std::string_view())
      .text(points_[step.point])
      .add({})
      .number(step.entered_ns)
      .add({})
      .number(journey.inside_until_ns - step.entered_ns)
      .add(true)
      .text(name(journey.outcome))
      .number(step.tid)
      .add(names_.thread_cell(step.tid))
      .add({})
      .add({});
  table_.write_row();
}

InFlightTable::InFlightTable(const journeys::Topology& topology, const TraceNames& names,
                             RowWriter& rows)
    : topology_(topology),
      names_(names),
      depths_(topology.places.size()),
      table_(rows, kInFlightColumns, no_fields()) {}

void InFlightTable::on_enter(std::uint16_t place, std::uint64_t ts_ns) {
  ++depths_[place];
  add(place, ts_ns, false);
}

void InFlightTable::on_leave(std::uint16_t place, std::uint64_t /*entered_ns*/, std::uint64_t ts_ns,
                             bool seen) {
  if (depths_[place] != 0) --depths_[place];
  add(place, ts_ns, !seen);
}

void InFlightTable::add(std::uint16_t place, std::uint64_t ts_ns, bool was_given_up) {
  if (!table_.is_good()) return;
  RowCells(table_.new_row())
      .number(ts_ns)
      .add(names_.unix_cell(ts_ns))
      .text(direction_text(topology_.places[place].direction))
      .text(topology_.places[place].name)
      .number(depths_[place])
      .add(was_given_up);
  table_.write_row();
}

CauseTable::CauseTable(const trace::Reader& reader, const journeys::Topology& topology,
                       const causes::ContextNameTable& contexts, const TraceNames& names,
                       RowWriter& rows)
    : topology_(topology),
      contexts_(contexts),
      names_(names),
      table_(rows, kCauseColumns, FieldColumns(reader.schema(), "id_", is_id_field)) {}

void CauseTable::add(const causes::Verdict& verdict) {
  std::uint64_t number = 0;
  for (const causes::LatencyPart& part : verdict.parts) {
    if (!table_.is_good()) return;
    // The words are those of the table of causes.
    const causes::Cause cause = causes::cause_of(part, contexts_);
    RowCells(table_.new_row())
        .number(verdict.journey)
        .text(direction_text(verdict.direction))
        .number(verdict.start_ns)
        .number(verdict.end_ns)
        .number(verdict.latency_ns())
        .number(++number)
        .text(name(part.kind))
        .text(topology_.places[part.place].name)
        .number(part.ns)
        .number(part.begin_ns)
        .number(part.end_ns)
        .number_if(part.tid != 0, part.tid)
        .add(cell_if(part.tid != 0 && !names_.thread(part.tid).empty(), names_.thread(part.tid)))
        .number_if(part.by != 0, part.by)
        .text_if_any(cause.by)
        .text_if_any(cause.in)
        .number_if(part.cpu >= 0, static_cast<std::uint64_t>(std::max(part.cpu, 0)))
        .number_if(part.count != 0, part.count)
        .add(cell_if(part.number >= 0, part.number))
        .add(verdict.is_ambiguous);
    table_.fields().fill(verdict.ids, table_.field_cells());
    table_.write_row();
  }
}

}  // namespace sojourn::exports
