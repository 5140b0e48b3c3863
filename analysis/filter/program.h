// A condition compiled for every point of a schema, and run over batches of events.
//
// Conditions on a point's words and on missing fields are decided once, when the program is
// compiled. The rest are tests of columns, each with two jumps: for events that pass and for events
// that fail. Jumps lead to earlier tests only, so one pass from the last test to the first handles
// a whole batch: each test splits its rows in two. Points with the same fields at the same places
// share their tests. A running program looks at no text, and no branch depends on an event.
//
// One thread owns a Program; copies are independent.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "analysis/filter/bind.h"
#include "analysis/model/event.h"
#include "analysis/model/schema.h"

namespace sojourn::filter {

// The result for an event for which the expression is neither true nor false, because a field that
// it names is missing.
enum class Missing : std::uint8_t { kReject, kAccept };

// A comparison of one value of an event with a range, which a capture can make by itself.
struct FieldTest {
  std::uint32_t field = 0;
  std::uint64_t low = 0;
  std::uint64_t width = 0;  // value - low <= width, in 64 bits without a sign
  bool is_negated = false;
};

class Program {
 public:
  enum class PointMatch : std::uint8_t { kNone, kSome, kAll };

  // Numbers that are a journey's, not an event's, in the order of outer_steps().
  using Outer = std::span<const std::optional<Number>>;

  // Times count from origin_ns.
  Program(const Condition& condition, const model::Schema& schema, std::uint64_t origin_ns,
          Missing missing);

  const std::vector<Step>& outer_steps() const { return outer_steps_; }

  void add_stream(const model::Stream& stream);  // its CPU

  PointMatch point_match(model::PointId point) const;
  // The comparisons that decide alone for a point's event, where there are such: all must hold.
  std::optional<std::vector<FieldTest>> field_tests(model::PointId point) const;

  bool matches(const model::EventView& event, Outer outer = {}) const;
  // Appends the rows that match, in their order.
  void select(const model::EventBatch& events, std::vector<std::uint32_t>& rows);

 private:
  // The two results, numbered as tests that are never run.
  static constexpr std::uint32_t kReject = 0;
  static constexpr std::uint32_t kAccept = 1;
  static constexpr std::uint32_t kFirstTest = 2;

  // Rows of one pass: few enough that all lists stay in the first caches.
  static constexpr std::size_t kChunk = 1024;

  // The deepest stack: each level of parentheses keeps the left sides of a sum and of a product.
  static constexpr std::size_t kStack = 2 * kMaxDepth + 8;

  enum class Source : std::uint8_t { kValue, kTime, kThread, kStream, kCpu };

  struct Calculation {
    enum class Kind : std::uint8_t { kConstant, kSource, kOuter, kNegate, kCalculate };
    Kind kind = Kind::kConstant;
    Operator op = Operator::kAdd;
    Source source = Source::kValue;
    bool is_signed = false;
    std::uint32_t index = 0;  // of a value, or of an outer number
    Number number = 0;

    bool operator==(const Calculation&) const = default;
  };

  struct Test {
    enum class Kind : std::uint8_t { kRange, kSet, kCalculated };
    Kind kind = Kind::kRange;
    Source source = Source::kValue;
    std::uint32_t value = 0;
    std::uint64_t low = 0;  // kRange: source - low <= width
    std::uint64_t width = 0;
    std::uint64_t bias = 0;  // kSet: added, it makes signed numbers sort as unsigned ones
    std::vector<std::pair<std::uint64_t, std::uint64_t>> set;
    std::vector<Calculation> steps;  // kCalculated
    std::vector<Range> ranges;
    std::uint32_t on_true = 0;
    std::uint32_t on_false = 0;
    std::uint32_t on_missing = 0;

    bool operator==(const Test&) const = default;
  };
  enum class Outcome : std::uint8_t { kFalse, kTrue, kMissing };

  std::uint32_t emit(const Condition& condition, const model::Point& point, std::uint32_t on_true,
                     std::uint32_t on_false);
  std::uint32_t emit_leaf(const Condition& condition, const model::Point& point,
                          std::uint32_t on_true, std::uint32_t on_false);
  std::uint32_t emit_number(const Leaf& leaf, const model::Point& point,
                            const std::vector<std::uint32_t>& fields, Test targets);
  std::uint32_t emit_thread(const Leaf& leaf, std::uint32_t yes, std::uint32_t no,
                            std::uint32_t unknown);
  std::uint32_t emit_simple(const Calculation& from, const std::vector<Range>& ranges, Test test);
  Calculation resolve(const Step& step, const model::Point& point,
                      const std::vector<std::uint32_t>& fields);
  std::uint32_t add(Test test);

  void select_chunk(const model::EventBatch& events, std::size_t first, std::size_t count,
                    std::vector<std::uint32_t>& rows);
  template <typename Holds>
  void split(std::uint32_t index, const Holds& holds);
  template <typename Use>
  void with_column(const Test& test, const model::EventBatch& events, const Use& use) const;
  void run_test(std::uint32_t index, const model::EventBatch& events);
  void run_calculated(std::uint32_t index, const model::EventBatch& events);
  void calculate_columns(const Test& test, const model::EventBatch& events,
                         std::span<const std::uint32_t> rows);
  void run_step(const Calculation& step, std::size_t& top, std::size_t count);
  void move(std::uint32_t row, const Test& test, Outcome outcome);
  Outcome outcome(const Test& test, const model::EventView& event, Outer outer) const;
  Outcome calculated(const Test& test, const model::EventView& event, Outer outer) const;
  std::optional<Number> read(const Calculation& step, const model::EventView& event) const;
  std::optional<std::uint64_t> raw(Source source, std::uint32_t value,
                                   const model::EventView& event) const;

  std::uint64_t origin_ns_;
  Missing missing_;
  std::vector<Test> tests_;             // the first two stand for the ends
  std::vector<std::uint32_t> entries_;  // by point: where its events begin
  std::vector<std::uint8_t> fields_;    // by point: how many values its events have
  std::vector<std::int32_t> cpus_;      // by stream; -1: none
  std::vector<Step> outer_steps_;
  std::vector<std::uint32_t> waiting_;   // kChunk rows for each test
  std::vector<std::uint32_t> counts_;    // and how many of them
  std::vector<std::int64_t> stack_;      // of columns, kChunk numbers each
  std::vector<std::uint8_t> is_beyond_;  // by number: it needs more than 64 bits
};

}  // namespace sojourn::filter
