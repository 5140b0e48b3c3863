// Encodes the events of one stream as columns, ready to be compressed, and decodes them. Decoding
// trusts nothing: data that does not fit the block's header or the schema is refused. Both keep
// their buffers between blocks; one thread owns each.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "analysis/base/result.h"
#include "analysis/model/event.h"
#include "analysis/model/schema.h"
#include "analysis/trace/column.h"

namespace sojourn::trace {

// The part of an events block's header that the columns depend on.
struct BlockSummary {
  std::uint32_t stream = 0;
  std::uint32_t events = 0;
  std::uint64_t first_seq = 0;
  std::uint64_t last_seq = 0;  // the largest
  std::uint64_t min_ts_ns = 0;
  std::uint64_t max_ts_ns = 0;
};

BlockSummary summarise(const model::EventBatch& batch, std::size_t first, std::size_t count);

// The form in which a field's column is stored in the block.
struct ColumnForm {
  std::uint8_t width = 0;      // planes
  bool is_difference = false;  // to the row before or, if there is a key, to the row it links to
  std::uint16_t key = 0;       // bit i: field i belongs to the key

  bool operator==(const ColumnForm&) const = default;
};
constexpr std::uint8_t kWidthBits = 0x0f;
constexpr std::uint8_t kDifferenceBit = 0x10;  // in the byte that stores width and is_difference

using FieldColumns = std::array<std::vector<std::uint64_t>, model::kMaxFields>;

// Rows grouped by point, in order: those of point p are rows[start[p]] to rows[start[p + 1] - 1].
struct RowsByPoint {
  std::vector<std::uint32_t> start;
  std::vector<std::uint32_t> rows;

  void sort(std::span<const model::PointId> points, std::size_t different);
  std::span<const std::uint32_t> of(std::size_t point) const {
    return std::span(rows).subspan(start[point], start[point + 1] - start[point]);
  }
};

class EventEncoder {
 public:
  // Appends rows [first, first + count), which fit the schema, as columns to `bytes`.
  void encode(const model::EventBatch& batch, std::size_t first, std::size_t count,
              const model::Schema& schema, std::vector<std::uint8_t>& bytes);

 private:
  // The best prediction of a point's fields. It is chosen from the traffic, and again now and then.
  struct Plan {
    std::array<ColumnForm, model::kMaxFields> forms;
    std::uint64_t rows_until_new = 0;
  };

  void encode_times(std::span<const std::uint64_t> ts_ns);
  void encode_sequence(std::span<const std::uint64_t> seq);
  void encode_threads(std::span<const std::uint32_t> tids);
  void encode_points(std::span<const model::PointId> points, std::size_t in_schema);
  void encode_point(const model::EventBatch& batch, std::size_t first, const model::Point& point,
                    std::span<const std::uint32_t> rows, Plan& plan);
  void take_columns(const model::EventBatch& batch, std::size_t first,
                    std::span<const std::uint32_t> rows, std::size_t fields);
  void encode_point_threads(std::span<const std::uint32_t> rows);
  void put_column(const ColumnForm& form, unsigned width);
  void choose_forms(const model::Point& point, std::size_t rows, Plan& plan);
  double cost(std::span<const std::uint64_t> column, ColumnForm form);
  std::uint64_t predict(std::span<const std::uint64_t> column, ColumnForm form);
  std::span<const std::uint32_t> links(std::uint16_t key, std::size_t rows);

  std::vector<Plan> plans_;
  RowsByPoint by_point_;
  FieldColumns columns_;           // of the point at hand
  std::array<KeyLinks, 2> links_;  // of its two keys, where key_ is not 0
  std::array<std::uint16_t, 2> key_{};
  std::vector<std::uint64_t> numbers_;  // what becomes planes
  std::vector<std::uint32_t> thread_;   // of each row: index into the block's table
  bool has_one_thread_ = false;         // then thread_ has the first row only
  std::vector<std::uint8_t> head_;
  std::vector<std::uint8_t> body_;
};

class EventDecoder {
 public:
  // Replaces the contents of `into` by the block's events. On failure they are undefined.
  Result<void> decode(std::span<const std::uint8_t> bytes, const BlockSummary& summary,
                      const model::Schema& schema, model::EventBatch& into);

 private:
  // One entry of the block's table of points.
  struct PointForm {
    model::PointId id = 0;
    std::size_t fields = 0;
    std::uint64_t thread = 0;  // of its first row
    unsigned thread_width = 0;
    std::array<ColumnForm, model::kMaxFields> forms;
  };
  class Input;

  Result<void> decode_columns(Input& in, const BlockSummary& summary, const model::Schema& schema,
                              model::EventColumns& columns);
  Result<void> read_threads(Input& in, std::uint32_t events);
  Result<void> read_point_table(Input& in, const model::Schema& schema);
  Result<void> get_numbers(Input& in, unsigned width, std::size_t rows);
  Result<void> decode_times(const BlockSummary& summary, std::vector<std::uint64_t>& ts_ns);
  Result<void> decode_points(Input& in, std::uint32_t events, model::EventColumns& columns);
  Result<void> decode_point(Input& in, const PointForm& point, std::span<const std::uint32_t> rows,
                            model::EventColumns& columns);
  void decode_field(const PointForm& point, std::size_t field, std::span<const std::uint8_t> planes,
                    std::size_t rows);
  void find_links(const PointForm& point, std::uint16_t key, std::size_t rows);

  std::vector<PointForm> points_;
  std::vector<std::uint32_t> tids_;
  unsigned point_width_ = 0;
  std::vector<model::PointId> point_index_;  // of each row: index into points_
  RowsByPoint by_point_;
  FieldColumns columns_;
  KeyLinks links_;
  std::uint16_t links_key_ = 0;
  std::vector<std::uint64_t> numbers_;
};

}  // namespace sojourn::trace
