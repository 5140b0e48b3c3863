#include <algorithm>
#include <bit>
#include <cmath>
#include <iterator>
#include <numeric>
#include <unordered_map>
#include <utility>

#include "analysis/trace/codec.h"
#include "analysis/trace/varint.h"

namespace sojourn::trace {

namespace {

// The number of rows from which a prediction is chosen, and for which it is kept.
constexpr std::size_t kSample = 256;
constexpr std::size_t kEnoughRows = 64;
constexpr std::uint64_t kPlanRows = 200'000;

// The loop has no early exit, as in is_constant.
bool counts_up(std::span<const std::uint64_t> seq) {
  std::uint64_t differences = 0;
  for (std::size_t row = 1; row < seq.size(); ++row) differences |= (seq[row] - seq[row - 1]) ^ 1;
  return differences == 0;
}

}  // namespace

BlockSummary summarise(const model::EventBatch& batch, std::size_t first, std::size_t count) {
  BlockSummary summary;
  if (count == 0) return summary;
  const auto [earliest, latest] = std::ranges::minmax(batch.ts_ns().subspan(first, count));
  summary.stream = batch.stream()[first];
  summary.events = static_cast<std::uint32_t>(count);
  summary.first_seq = batch.seq()[first];
  summary.last_seq = std::ranges::max(batch.seq().subspan(first, count));
  summary.min_ts_ns = earliest;
  summary.max_ts_ns = latest;
  return summary;
}

void RowsByPoint::sort(std::span<const model::PointId> points, std::size_t different) {
  start.assign(different + 1, 0);
  // Many threads hit one point only. If its rows were counted one by one, each addition would wait
  // for the one before.
  if (!points.empty() && is_constant(points)) {
    std::fill(start.begin() + points.front() + 1, start.end(),
              static_cast<std::uint32_t>(points.size()));
    rows.resize(points.size());
    std::iota(rows.begin(), rows.end(), 0U);
    return;
  }
  for (const model::PointId point : points) ++start[point + std::size_t{1}];
  for (std::size_t point = 0; point < different; ++point) start[point + 1] += start[point];
  rows.resize(points.size());
  for (std::uint32_t row = 0; row < points.size(); ++row) rows[start[points[row]]++] = row;
  // Each start is now where the next one was.
  std::shift_right(start.begin(), start.end(), 1);
  start.front() = 0;
}

void EventEncoder::encode(const model::EventBatch& batch, std::size_t first, std::size_t count,
                          const model::Schema& schema, std::vector<std::uint8_t>& bytes) {
  if (count == 0) return;
  head_.clear();
  body_.clear();
  plans_.resize(schema.points.size());

  const auto points = batch.point().subspan(first, count);
  encode_sequence(batch.seq().subspan(first, count));
  encode_threads(batch.tid().subspan(first, count));
  encode_times(batch.ts_ns().subspan(first, count));
  encode_points(points, schema.points.size());
  for (std::size_t point = 0; point < schema.points.size(); ++point) {
    const auto rows = by_point_.of(point);
    if (rows.empty()) continue;
    VarintWriter(head_).put(point);
    encode_point(batch, first, schema.points[point], rows, plans_[point]);
  }
  bytes.insert(bytes.end(), head_.begin(), head_.end());
  bytes.insert(bytes.end(), body_.begin(), body_.end());
}

// Numbers count up by one, but for a few exceptions. Only the exceptions are stored: the number of
// rows since the one before, and the difference.
void EventEncoder::encode_sequence(std::span<const std::uint64_t> seq) {
  VarintWriter out(head_);
  if (counts_up(seq)) return out.put(0);
  std::vector<std::pair<std::uint64_t, std::uint64_t>> jumps;
  std::uint64_t expected = seq.front();
  std::uint64_t last_jump = 0;
  for (std::uint64_t row = 0; row < seq.size(); ++row) {
    if (seq[row] != expected) {
      jumps.emplace_back(row - last_jump, seq[row] - expected);
      last_jump = row;
    }
    expected = seq[row] + 1;
  }
  out.put(jumps.size());
  for (const auto& [rows, by] : jumps) {
    out.put(rows);
    out.put(fold(by));
  }
}

void EventEncoder::encode_threads(std::span<const std::uint32_t> tids) {
  std::unordered_map<std::uint32_t, std::uint32_t> index_of;
  std::vector<std::uint32_t> table;
  has_one_thread_ = is_constant(tids);  // as a ring
  const std::size_t varied = has_one_thread_ ? 1 : tids.size();
  thread_.assign(varied, 0);
  for (std::size_t row = 0; row < varied; ++row) {
    // A CPU runs one thread for many events on end.
    if (row > 0 && tids[row] == tids[row - 1]) {
      thread_[row] = thread_[row - 1];
      continue;
    }
    const auto [entry, is_new] =
        index_of.try_emplace(tids[row], static_cast<std::uint32_t>(table.size()));
    if (is_new) table.push_back(tids[row]);
    thread_[row] = entry->second;
  }
  VarintWriter out(head_);
  out.put(table.size());
  for (const std::uint32_t tid : table) out.put(tid);
}

void EventEncoder::encode_times(std::span<const std::uint64_t> ts_ns) {
  numbers_.resize(ts_ns.size());
  const unsigned width = width_of(fold_differences(ts_ns, std::ranges::min(ts_ns), numbers_));
  head_.push_back(static_cast<std::uint8_t>(width));
  put_planes(numbers_, width, body_);
}

// Numbers the block's points from 0, so that it needs as few planes as possible.
void EventEncoder::encode_points(std::span<const model::PointId> points, std::size_t in_schema) {
  by_point_.sort(points, in_schema);
  std::vector<std::uint64_t> index(in_schema);
  std::uint64_t used = 0;
  for (std::size_t point = 0; point < in_schema; ++point)
    if (!by_point_.of(point).empty()) index[point] = used++;
  VarintWriter(head_).put(used);
  if (used == 1) return head_.push_back(0);
  std::ranges::transform(points, numbers_.begin(), [&](auto point) { return index[point]; });
  const unsigned width = width_of(used - 1);
  head_.push_back(static_cast<std::uint8_t>(width));
  put_planes(numbers_, width, body_);
}

void EventEncoder::encode_point(const model::EventBatch& batch, std::size_t first,
                                const model::Point& point, std::span<const std::uint32_t> rows,
                                Plan& plan) {
  encode_point_threads(rows);
  const std::size_t fields = point.fields.size();
  VarintWriter(head_).put(fields);
  take_columns(batch, first, rows, fields);
  key_ = {};
  if (plan.rows_until_new <= rows.size() && rows.size() >= kEnoughRows)
    choose_forms(point, rows.size(), plan);
  plan.rows_until_new -= std::min<std::uint64_t>(plan.rows_until_new, rows.size());
  for (std::size_t field = 0; field < fields; ++field) {
    const std::uint64_t bits = predict(columns_[field], plan.forms[field]);
    put_column(plan.forms[field], width_of(bits));
  }
}

// Takes a few rows at a time, so that their values stay in the nearest cache for all fields.
void EventEncoder::take_columns(const model::EventBatch& batch, std::size_t first,
                                std::span<const std::uint32_t> rows, std::size_t fields) {
  constexpr std::size_t kSome = 256;
  const auto starts = batch.first_value().subspan(first);
  const std::uint64_t* const values = batch.values().data();
  std::array<std::uint32_t, kSome> start;
  for (std::size_t field = 0; field < fields; ++field) columns_[field].resize(rows.size());
  for (std::size_t from = 0; from < rows.size(); from += kSome) {
    const auto some = rows.subspan(from, std::min(kSome, rows.size() - from));
    for (std::size_t at = 0; at < some.size(); ++at) start[at] = starts[some[at]];
    for (std::size_t field = 0; field < fields; ++field) {
      std::uint64_t* const column = columns_[field].data() + from;
      for (std::size_t at = 0; at < some.size(); ++at) column[at] = values[start[at] + field];
    }
  }
}

// Most points are hit by one thread each; then this takes three bytes a block.
void EventEncoder::encode_point_threads(std::span<const std::uint32_t> rows) {
  if (has_one_thread_) {
    VarintWriter(head_).put(0);
    return head_.push_back(0);
  }
  numbers_.resize(rows.size());
  std::uint64_t before = thread_[rows.front()];
  VarintWriter(head_).put(before);
  std::uint64_t bits = 0;
  for (std::size_t at = 0; at < rows.size(); ++at) {
    const std::uint64_t thread = thread_[rows[at]];
    bits |= numbers_[at] = fold(thread - std::exchange(before, thread));
  }
  const unsigned width = width_of(bits);
  head_.push_back(static_cast<std::uint8_t>(width));
  put_planes(numbers_, width, body_);
}

void EventEncoder::put_column(const ColumnForm& form, unsigned width) {
  head_.push_back(static_cast<std::uint8_t>(width | (form.is_difference ? kDifferenceBit : 0)));
  VarintWriter(head_).put(form.key);
  put_planes(numbers_, width, body_);
}

// Chooses which earlier row a field's difference is taken to. A counter of one bearer of one UE
// looks random among the others and is regular by itself. So differences may be taken to the last
// event with the same global ids, or with the same global ids and first local id. Identifiers
// themselves repeat, and are stored as they are.
void EventEncoder::choose_forms(const model::Point& point, std::size_t rows, Plan& plan) {
  std::uint16_t globals = 0;
  std::uint16_t first_local = 0;
  for (std::size_t field = 0; field < point.fields.size(); ++field) {
    const auto bit = static_cast<std::uint16_t>(1u << field);
    if (point.fields[field].role == model::Role::kGlobal) globals |= bit;
    if (point.fields[field].role == model::Role::kLocal && first_local == 0) first_local = bit;
  }
  const auto both = static_cast<std::uint16_t>(globals | first_local);
  for (std::size_t field = 0; field < point.fields.size(); ++field) {
    const std::span column(columns_[field]);
    const bool in_key = ((both >> field) & 1) != 0;
    ColumnForm best;
    double least = cost(column, best);
    const auto consider = [&](ColumnForm form) {
      const double candidate = cost(column, form);
      if (candidate < least) {
        least = candidate;
        best = form;
      }
    };
    consider({.is_difference = true});
    if (!in_key && globals != 0) consider({.is_difference = true, .key = globals});
    if (!in_key && both != globals) consider({.is_difference = true, .key = both});
    plan.forms[field] = best;
  }
  plan.rows_until_new = std::max<std::uint64_t>(kPlanRows, rows);
}

// Estimates the bits that a row takes: by the entropy of a sample or, where its values are too
// varied for that, by the length of its numbers.
double EventEncoder::cost(std::span<const std::uint64_t> column, ColumnForm form) {
  predict(column, form);
  // The sample is the end of the column: at its start a difference may have no earlier row.
  const auto sample = std::span(numbers_).last(std::min(kSample, numbers_.size()));
  constexpr unsigned kBuckets = 256;
  std::array<std::uint32_t, kBuckets> count{};
  unsigned bits = 0;
  for (const std::uint64_t number : sample) {
    ++count[(number ^ (number >> 8) ^ (number >> 16)) % kBuckets];
    bits += static_cast<unsigned>(std::bit_width(number));
  }
  const auto rows = static_cast<double>(sample.size());
  double entropy = std::log2(rows);
  for (const std::uint32_t in_bucket : count)
    if (in_bucket > 1) entropy -= in_bucket * std::log2(in_bucket) / rows;
  constexpr double kVaried = 0.75;
  if (entropy < kVaried * std::log2(rows)) return entropy;
  return std::max(entropy, bits / rows);
}

// Fills numbers_ with the numbers to store, and returns the bits that are set in any of them.
std::uint64_t EventEncoder::predict(std::span<const std::uint64_t> column, ColumnForm form) {
  const std::size_t rows = column.size();
  numbers_.resize(rows);
  if (!form.is_difference) return fold_all(column, numbers_);
  if (form.key == 0) return fold_differences(column, 0, numbers_);
  const auto previous = links(form.key, rows);
  std::uint64_t bits = 0;
  for (std::size_t row = 0; row < rows; ++row)
    bits |= numbers_[row] =
        fold(column[row] - (previous[row] == kNoRow ? 0 : column[previous[row]]));
  return bits;
}

std::span<const std::uint32_t> EventEncoder::links(std::uint16_t key, std::size_t rows) {
  const auto slot = static_cast<std::size_t>(std::ranges::find(key_, key) - key_.begin());
  if (slot < key_.size()) return links_[slot].previous();
  const auto unused = static_cast<std::size_t>(std::ranges::find(key_, 0) - key_.begin());
  key_.at(unused) = key;
  std::vector<std::span<const std::uint64_t>> keys;
  for (std::size_t field = 0; field < columns_.size(); ++field)
    if (((key >> field) & 1) != 0) keys.emplace_back(columns_[field]);
  links_[unused].find(keys, rows);
  return links_[unused].previous();
}

}  // namespace sojourn::trace
