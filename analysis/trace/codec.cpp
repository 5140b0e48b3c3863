#include "analysis/trace/codec.h"

#include <algorithm>
#include <array>
#include <unordered_map>

#include "analysis/trace/varint.h"

namespace sojourn::trace {

namespace {

// An identifier hops between a few values: as it is, it repeats; a counter's differences are small.
bool is_stored_as_difference(const model::Field& field) {
  return field.role == model::Role::kLocal;
}

}  // namespace

BlockSummary summarise(const model::EventBatch& batch) {
  BlockSummary summary;
  if (batch.empty()) return summary;
  const auto [earliest, latest] = std::ranges::minmax(batch.ts_ns());
  summary.stream = batch.stream().front();
  summary.events = static_cast<std::uint32_t>(batch.size());
  summary.first_seq = batch.seq().front();
  summary.last_seq = std::ranges::max(batch.seq());
  summary.min_ts_ns = earliest;
  summary.max_ts_ns = latest;
  return summary;
}

namespace {

void encode_times(const model::EventBatch& batch, std::uint64_t start, VarintWriter& out) {
  for (const std::uint64_t ts_ns : batch.ts_ns()) {
    out.put_signed(ts_ns - start);
    start = ts_ns;
  }
}

// Numbers count up by one but for a few exceptions, so only those are stored: which event, and how
// far off.
void encode_sequence(const model::EventBatch& batch, VarintWriter& out) {
  std::vector<std::pair<std::uint64_t, std::uint64_t>> jumps;
  std::uint64_t expected = batch.seq().front();
  std::uint64_t last_jump = 0;
  for (std::uint64_t row = 0; row < batch.size(); ++row) {
    const std::uint64_t seq = batch.seq()[row];
    if (seq != expected) {
      jumps.emplace_back(row - last_jump, seq - expected);
      last_jump = row;
    }
    expected = seq + 1;
  }
  out.put(jumps.size());
  for (const auto& [rows, by] : jumps) {
    out.put(rows);
    out.put_signed(by);
  }
}

void encode_threads(const model::EventBatch& batch, VarintWriter& out) {
  std::unordered_map<std::uint32_t, std::uint64_t> index_of;
  std::vector<std::uint32_t> tids;
  for (const std::uint32_t tid : batch.tid())
    if (index_of.try_emplace(tid, tids.size()).second) tids.push_back(tid);
  out.put(tids.size());
  for (const std::uint32_t tid : tids) out.put(tid);
  for (const std::uint32_t tid : batch.tid()) out.put(index_of[tid]);
}

// Rows of each point, in order.
std::vector<std::vector<std::uint32_t>> rows_by_point(std::span<const model::PointId> points,
                                                      std::size_t schema_points) {
  std::vector<std::vector<std::uint32_t>> rows(schema_points);
  for (std::uint32_t row = 0; row < points.size(); ++row) rows[points[row]].push_back(row);
  return rows;
}

void encode_values(const model::EventBatch& batch, const model::Schema& schema, VarintWriter& out) {
  const auto rows = rows_by_point(batch.point(), schema.points.size());
  for (std::size_t point = 0; point < rows.size(); ++point) {
    const auto& fields = schema.points[point].fields;
    for (std::size_t field = 0; field < fields.size(); ++field) {
      const bool differences = is_stored_as_difference(fields[field]);
      std::uint64_t previous = 0;
      for (const std::uint32_t row : rows[point]) {
        const std::uint64_t value = batch[row].values[field];
        out.put_signed(value - previous);
        if (differences) previous = value;
      }
    }
  }
}

}  // namespace

void encode(const model::EventBatch& batch, const model::Schema& schema,
            std::vector<std::uint8_t>& bytes) {
  if (batch.empty()) return;
  VarintWriter out(bytes);
  encode_times(batch, summarise(batch).min_ts_ns, out);
  encode_sequence(batch, out);
  encode_threads(batch, out);
  for (const model::PointId point : batch.point()) out.put(point);
  encode_values(batch, schema, out);
}

namespace {

// The columns of a block while they are read.
struct Columns {
  std::vector<std::uint64_t> ts_ns;
  std::vector<std::uint64_t> seq;
  std::vector<std::uint32_t> tid;
  std::vector<model::PointId> point;
  std::vector<std::uint32_t> first_value;
  std::vector<std::uint64_t> values;
};

Result<void> decode_times(VarintReader& in, const BlockSummary& summary, Columns& columns) {
  columns.ts_ns.resize(summary.events);
  std::uint64_t ts_ns = summary.min_ts_ns;
  for (std::uint64_t& slot : columns.ts_ns) {
    ts_ns += in.get_signed();
    slot = ts_ns;
  }
  if (summary.events == 0) return {};
  const auto [earliest, latest] = std::ranges::minmax(columns.ts_ns);
  if (earliest != summary.min_ts_ns || latest != summary.max_ts_ns)
    return fail("times differ from the block's header");
  return {};
}

Result<void> decode_sequence(VarintReader& in, const BlockSummary& summary, Columns& columns) {
  columns.seq.resize(summary.events);
  const std::uint64_t jumps = in.get();
  if (jumps > summary.events) return fail("more jumps in the sequence than events");
  std::uint64_t row = 0;
  std::uint64_t seq = summary.first_seq;
  std::uint64_t jump_row = 0;
  for (std::uint64_t jump = 0; jump < jumps; ++jump) {
    const std::uint64_t rows = in.get();
    const std::uint64_t by = in.get_signed();
    if (rows > summary.events - jump_row || (jump > 0 && rows == 0))
      return fail("a jump in the sequence outside of the block");
    jump_row += rows;
    if (jump_row >= summary.events) return fail("a jump in the sequence outside of the block");
    for (; row < jump_row; ++row) columns.seq[row] = seq++;
    seq += by;
  }
  for (; row < summary.events; ++row) columns.seq[row] = seq++;
  return {};
}

Result<void> decode_threads(VarintReader& in, const BlockSummary& summary, Columns& columns) {
  const std::uint64_t count = in.get();
  if (count > summary.events) return fail("more threads than events");
  std::vector<std::uint32_t> tids(count);
  for (std::uint32_t& tid : tids) tid = static_cast<std::uint32_t>(in.get());
  columns.tid.resize(summary.events);
  for (std::uint32_t& slot : columns.tid) {
    const std::uint64_t index = in.get();
    if (index >= count) return fail("a thread outside of the block's table");
    slot = tids[index];
  }
  return {};
}

Result<void> decode_points(VarintReader& in, const BlockSummary& summary,
                           const model::Schema& schema, Columns& columns) {
  columns.point.resize(summary.events);
  columns.first_value.resize(std::size_t{summary.events} + 1);
  std::uint32_t values = 0;
  for (std::size_t row = 0; row < summary.events; ++row) {
    const std::uint64_t point = in.get();
    if (point >= schema.points.size()) return fail("point {} is not in the schema", point);
    columns.point[row] = static_cast<model::PointId>(point);
    columns.first_value[row] = values;
    values += static_cast<std::uint32_t>(schema.points[point].fields.size());
  }
  columns.first_value[summary.events] = values;
  return {};
}

void decode_values(VarintReader& in, const model::Schema& schema, Columns& columns) {
  columns.values.resize(columns.first_value.back());
  const auto rows = rows_by_point(columns.point, schema.points.size());
  for (std::size_t point = 0; point < rows.size(); ++point) {
    const auto& fields = schema.points[point].fields;
    for (std::size_t field = 0; field < fields.size(); ++field) {
      const bool differences = is_stored_as_difference(fields[field]);
      std::uint64_t previous = 0;
      for (const std::uint32_t row : rows[point]) {
        const std::uint64_t value = previous + in.get_signed();
        columns.values[columns.first_value[row] + field] = value;
        if (differences) previous = value;
      }
    }
  }
}

}  // namespace

Result<void> decode(std::span<const std::uint8_t> bytes, const BlockSummary& summary,
                    const model::Schema& schema, model::EventBatch& into) {
  VarintReader in(bytes);
  Columns columns;
  SJ_CHECK(decode_times(in, summary, columns));
  SJ_CHECK(decode_sequence(in, summary, columns));
  SJ_CHECK(decode_threads(in, summary, columns));
  SJ_CHECK(decode_points(in, summary, schema, columns));
  decode_values(in, schema, columns);
  if (in.failed() || !in.at_end()) return fail("columns do not end where the block does");

  into.reserve(into.size() + summary.events, columns.values.size());
  const std::span<const std::uint64_t> values(columns.values);
  for (std::size_t row = 0; row < summary.events; ++row)
    into.append({.ts_ns = columns.ts_ns[row],
                 .seq = columns.seq[row],
                 .stream = summary.stream,
                 .tid = columns.tid[row],
                 .point = columns.point[row],
                 .values = values.subspan(columns.first_value[row], columns.first_value[row + 1] -
                                                                        columns.first_value[row])});
  return {};
}

}  // namespace sojourn::trace
