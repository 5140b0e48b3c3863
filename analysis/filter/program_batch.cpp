// Runs a program over a batch: each test is a loop over columns.
#include <algorithm>
#include <array>
#include <bit>
#include <utility>

#include "analysis/filter/program.h"

namespace sojourn::filter {

void Program::select(const model::EventBatch& events, std::vector<std::uint32_t>& rows) {
  waiting_.resize(tests_.size() * kChunk);
  counts_.assign(tests_.size(), 0);
  for (std::size_t first = 0; first < events.size(); first += kChunk)
    select_chunk(events, first, std::min(kChunk, events.size() - first), rows);
}

void Program::select_chunk(const model::EventBatch& events, std::size_t first, std::size_t count,
                           std::vector<std::uint32_t>& rows) {
  const auto points = events.point();
  const auto first_value = events.first_value();
  for (std::size_t row = first; row < first + count; ++row) {
    const model::PointId point = points[row];
    std::uint32_t entry = point < entries_.size() ? entries_[point] : kReject;
    if (entry >= kFirstTest && first_value[row + 1] - first_value[row] < fields_[point])
      entry = kReject;
    waiting_[entry * kChunk + counts_[entry]++] = static_cast<std::uint32_t>(row);
  }
  for (auto index = static_cast<std::uint32_t>(tests_.size()); index-- > kFirstTest;) {
    if (counts_[index] == 0) continue;
    run_test(index, events);
    counts_[index] = 0;
  }

  // Rows arrive by different jumps; a bit for each row restores their order.
  std::array<std::uint64_t, kChunk / 64> bits{};
  for (std::uint32_t i = 0; i < counts_[kAccept]; ++i) {
    const std::size_t at = waiting_[kAccept * kChunk + i] - first;
    bits[at / 64] |= std::uint64_t{1} << at % 64;
  }
  for (std::size_t word = 0; word < bits.size(); ++word)
    for (std::uint64_t left = bits[word]; left != 0; left &= left - 1)
      rows.push_back(static_cast<std::uint32_t>(first + word * 64 +
                                                static_cast<std::size_t>(std::countr_zero(left))));
  counts_[kAccept] = 0;
  counts_[kReject] = 0;
}

template <typename Holds>
void Program::split(std::uint32_t index, const Holds& holds) {
  const Test& test = tests_[index];
  const std::uint32_t* const rows = &waiting_[index * kChunk];
  std::uint32_t* const passed = &waiting_[test.on_true * kChunk];
  std::uint32_t* const failed = &waiting_[test.on_false * kChunk];
  std::uint32_t passes = counts_[test.on_true];
  std::uint32_t failures = counts_[test.on_false];
  // Each row is written to both lists and kept in one, which saves a branch.
  for (std::uint32_t i = 0; i < counts_[index]; ++i) {
    const std::uint32_t row = rows[i];
    const bool passes_test = holds(row);
    passed[passes] = row;
    failed[failures] = row;
    passes += passes_test ? 1U : 0U;
    failures += passes_test ? 0U : 1U;
  }
  counts_[test.on_true] = passes;
  counts_[test.on_false] = failures;
}

template <typename Use>
void Program::with_column(const Test& test, const model::EventBatch& events, const Use& use) const {
  switch (test.source) {
    case Source::kValue: {
      const std::uint64_t* const values = events.values().data() + test.value;
      const std::uint32_t* const first = events.first_value().data();
      return use([=](std::uint32_t row) { return values[first[row]]; });
    }
    case Source::kTime:
      return use([of = events.ts_ns()](std::uint32_t row) { return of[row]; });
    case Source::kThread:
      return use([of = events.tid()](std::uint32_t row) -> std::uint64_t { return of[row]; });
    default:
      return use([of = events.stream()](std::uint32_t row) -> std::uint64_t { return of[row]; });
  }
}

void Program::run_test(std::uint32_t index, const model::EventBatch& events) {
  constexpr std::size_t kFewRanges = 8;
  const Test& test = tests_[index];
  if (test.kind == Test::Kind::kCalculated) return run_calculated(index, events);
  if (test.source != Source::kCpu && test.kind == Test::Kind::kRange)
    return with_column(test, events, [&](const auto& load) {
      split(index, [&load, low = test.low, width = test.width](std::uint32_t row) {
        return load(row) - low <= width;
      });
    });
  if (test.source != Source::kCpu && test.set.size() <= kFewRanges)
    return with_column(test, events, [&](const auto& load) {
      // All ranges for each row: of a few that costs less than to search.
      split(index, [&](std::uint32_t row) {
        const std::uint64_t number = load(row) + test.bias;
        bool holds = false;
        for (const auto& [low, high] : test.set) holds |= number - low <= high - low;
        return holds;
      });
    });
  for (std::uint32_t i = 0; i < counts_[index]; ++i) {
    const std::uint32_t row = waiting_[index * kChunk + i];
    move(row, test, outcome(test, events[row], {}));
  }
}

void Program::move(std::uint32_t row, const Test& test, Outcome outcome) {
  const std::uint32_t to = outcome == Outcome::kTrue    ? test.on_true
                           : outcome == Outcome::kFalse ? test.on_false
                                                        : test.on_missing;
  waiting_[to * kChunk + counts_[to]++] = row;
}

// ---- calculations over a batch: column by column in 64 bits. Rows where 64 bits are too few, or
// where a value is missing, are calculated again one by one ----

void Program::run_calculated(std::uint32_t index, const model::EventBatch& events) {
  const Test& test = tests_[index];
  const std::span<const std::uint32_t> rows(&waiting_[index * kChunk], counts_[index]);
  calculate_columns(test, events, rows);
  for (std::size_t i = 0; i < rows.size(); ++i) {
    if (is_beyond_[i] != 0) {
      move(rows[i], test, calculated(test, events[rows[i]], {}));
      continue;
    }
    bool holds = false;
    for (const Range& range : test.ranges) holds |= range.holds(stack_[i]);
    move(rows[i], test, holds ? Outcome::kTrue : Outcome::kFalse);
  }
}

void Program::calculate_columns(const Test& test, const model::EventBatch& events,
                                std::span<const std::uint32_t> rows) {
  stack_.resize(kStack * kChunk);
  is_beyond_.assign(rows.size(), 0);
  std::size_t top = 0;
  for (const Calculation& step : test.steps) {
    if (top == kStack) return is_beyond_.assign(rows.size(), 1);
    if (step.kind == Calculation::Kind::kNegate || step.kind == Calculation::Kind::kCalculate) {
      run_step(step, top, rows.size());
      continue;
    }
    std::int64_t* const column = &stack_[top++ * kChunk];
    const bool is_plain = step.kind == Calculation::Kind::kSource && step.source != Source::kCpu &&
                          step.source != Source::kTime;
    if (step.kind == Calculation::Kind::kConstant && step.number >= INT64_MIN &&
        step.number <= INT64_MAX) {
      std::fill_n(column, rows.size(), static_cast<std::int64_t>(step.number));
    } else if (is_plain) {
      const Test source = {
          .source = step.source, .value = step.index, .set = {}, .steps = {}, .ranges = {}};
      with_column(source, events, [&](const auto& load) {
        for (std::size_t i = 0; i < rows.size(); ++i) {
          column[i] = static_cast<std::int64_t>(load(rows[i]));
          if (!step.is_signed && column[i] < 0) is_beyond_[i] = 1;
        }
      });
    } else {
      for (std::size_t i = 0; i < rows.size(); ++i) {
        const auto number =
            step.kind == Calculation::Kind::kSource ? read(step, events[rows[i]]) : std::nullopt;
        const bool fits = number && *number >= INT64_MIN && *number <= INT64_MAX;
        column[i] = fits ? static_cast<std::int64_t>(*number) : 0;
        if (!fits) is_beyond_[i] = 1;
      }
    }
  }
}

// Replaces the newest column, or the newest two, by the result.
void Program::run_step(const Calculation& step, std::size_t& top, std::size_t count) {
  const auto each = [&](std::int64_t* left, const std::int64_t* right, const auto& calculate) {
    for (std::size_t i = 0; i < count; ++i)
      if (calculate(left[i], right[i], &left[i])) is_beyond_[i] = 1;
  };
  if (step.kind == Calculation::Kind::kNegate) {
    std::int64_t* const of = &stack_[(top - 1) * kChunk];
    return each(of, of, [](std::int64_t number, std::int64_t, std::int64_t* result) {
      return __builtin_sub_overflow(std::int64_t{0}, number, result);
    });
  }
  --top;
  std::int64_t* const left = &stack_[(top - 1) * kChunk];
  const std::int64_t* const right = &stack_[top * kChunk];
  // The divisor -1 overflows for one number: such rows are calculated with 128 bits.
  const auto divides = [](std::int64_t by) { return by != 0 && by != -1; };
  switch (step.op) {
    case Operator::kAdd:
      return each(left, right, [](std::int64_t a, std::int64_t b, std::int64_t* result) {
        return __builtin_add_overflow(a, b, result);
      });
    case Operator::kSubtract:
      return each(left, right, [](std::int64_t a, std::int64_t b, std::int64_t* result) {
        return __builtin_sub_overflow(a, b, result);
      });
    case Operator::kMultiply:
      return each(left, right, [](std::int64_t a, std::int64_t b, std::int64_t* result) {
        return __builtin_mul_overflow(a, b, result);
      });
    case Operator::kDivide:
      return each(left, right, [&](std::int64_t a, std::int64_t b, std::int64_t* result) {
        *result = divides(b) ? a / b : 0;
        return !divides(b);
      });
    case Operator::kRemainder:
      return each(left, right, [&](std::int64_t a, std::int64_t b, std::int64_t* result) {
        *result = divides(b) ? a % b : 0;
        return !divides(b);
      });
  }
}

}  // namespace sojourn::filter
